import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { LockedThread } from './thread-store.ts'
import type { Form } from './types.ts'

export type FormRow = Form & {
  kind: 'parameters' | 'question'
  /** The question that the form asks. Two questions may ask for the same fields. */
  clarification_id: string | null
  status: 'open' | 'submitted' | 'cancelled' | 'replaced'
}
export const formColumns = 'form_id, title, schema, "values", kind, clarification_id, status'

export const findOpenForm = (tx: Tx, workspaceId: string, threadId: string): Promise<FormRow | undefined> =>
  tx.maybe<FormRow>(`select ${formColumns} from forms where workspace_id = $1 and thread_id = $2 and status = 'open'`, [
    workspaceId,
    threadId,
  ])

/** Returns the open form as it is shown. The form of a question that was answered elsewhere is not shown. */
export async function openForm(tx: Tx, workspaceId: string, threadId: string): Promise<Form | null> {
  const form = await tx.maybe<FormRow>(
    `select ${formColumns} from forms f where workspace_id = $1 and thread_id = $2 and status = 'open'
       and (clarification_id is null or exists (select from questions q
         where q.workspace_id = $1 and q.clarification_id = f.clarification_id and q.status = 'open'))`,
    [workspaceId, threadId],
  )
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
  thread: LockedThread,
  form: Pick<FormRow, 'form_id' | 'kind' | 'clarification_id' | 'title'> & { schema: Json; values: JsonObject },
): Promise<number> =>
  tx.count(
    `insert into forms (workspace_id, form_id, thread_id, kind, clarification_id, title, schema, "values", turn)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      thread.workspace_id,
      form.form_id,
      thread.thread_id,
      form.kind,
      form.clarification_id,
      form.title,
      JSON.stringify(form.schema),
      JSON.stringify(form.values),
      thread.turn,
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
  thread: Pick<LockedThread, 'workspace_id' | 'thread_id'>,
  status: 'submitted' | 'cancelled' | 'replaced',
): Promise<number> =>
  tx.count(
    `update forms set status = $3, closed_at = now() where workspace_id = $1 and thread_id = $2 and status = 'open'`,
    [thread.workspace_id, thread.thread_id, status],
  )
