import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Held } from './thread-store.ts'
import type { Form } from './types.ts'

export type FormRow = Form & {
  kind: 'parameters' | 'question'
  status: 'open' | 'submitted' | 'cancelled' | 'replaced'
}
export const formColumns = 'form_id, title, schema, "values", kind, status'

export const findOpenForm = (tx: Tx, workspaceId: string, threadId: string): Promise<FormRow | undefined> =>
  tx.maybe<FormRow>(`select ${formColumns} from forms where workspace_id = $1 and thread_id = $2 and status = 'open'`, [
    workspaceId,
    threadId,
  ])

export async function openForm(tx: Tx, workspaceId: string, threadId: string): Promise<Form | null> {
  const form = await findOpenForm(tx, workspaceId, threadId)
  return form ? formOf(form) : null
}

export const formOf = ({ form_id, title, schema, values }: FormRow): Form => ({ form_id, title, schema, values })

export const findForm = (tx: Tx, workspaceId: string, threadId: string, formId: string): Promise<FormRow | undefined> =>
  tx.maybe<FormRow>(`select ${formColumns} from forms where workspace_id = $1 and thread_id = $2 and form_id = $3`, [
    workspaceId,
    threadId,
    formId,
  ])

export const insertForm = (
  tx: Tx,
  held: Held,
  form: { form_id: string; kind: FormRow['kind']; title: string; schema: Json; values: JsonObject },
): Promise<number> =>
  tx.count(
    `insert into forms (workspace_id, form_id, thread_id, kind, title, schema, "values", turn) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      held.workspace_id,
      form.form_id,
      held.thread_id,
      form.kind,
      form.title,
      JSON.stringify(form.schema),
      JSON.stringify(form.values),
      held.turn,
    ],
  )

export const updateFormValues = (tx: Tx, workspaceId: string, formId: string, values: JsonObject): Promise<number> =>
  tx.count('update forms set "values" = $3 where workspace_id = $1 and form_id = $2', [
    workspaceId,
    formId,
    JSON.stringify(values),
  ])

export const closeForms = (
  tx: Tx,
  held: Pick<Held, 'workspace_id' | 'thread_id'>,
  status: 'submitted' | 'cancelled' | 'replaced',
): Promise<number> =>
  tx.count(
    `update forms set status = $3, closed_at = now() where workspace_id = $1 and thread_id = $2 and status = 'open'`,
    [held.workspace_id, held.thread_id, status],
  )
