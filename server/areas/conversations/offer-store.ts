import type { FlowSettings } from '#engine/flow/rules'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { TemplateTool } from './agent/types.ts'
import { splitInputs } from './conversation-input.ts'
import { type FormRow, formColumns } from './form-store.ts'

// The workflows that a conversation may start, and the template for which it speaks.

export type Offer = {
  workflow_id: string
  name: string
  description: string | null
  settings: FlowSettings & { timeout_s?: number }
  version_id: string
  /** The inputs without the property that receives the conversation. */
  inputs: Json | null
  /** The property of the inputs that receives the conversation. */
  conversation_field: string | null
  principal_id: string
  /** The person who added the workflow to the template; null if no template offers it. */
  added_by: string | null
}

export type AssistantSettings = {
  name: string
  greeting: string | null
  /** The language of the assistant's own texts; null means English. */
  locale: string | null
  instructions: string | null
  model: string | null
  owner_id: string | null
  llm: { credential_id?: string | null; fallback_credential_id?: string | null } | null
  /** Whether visitors see the names of colleagues who write to them. */
  names: boolean
  mode: 'menu' | 'agent'
  /** Used only in the mode `agent`. */
  knowledge_ids: string[]
  tools: TemplateTool[]
}

const offerColumns = `w.workflow_id, w.name, w.description, w.settings, v.version_id, v.definition -> 'inputs' as inputs,
  coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id`
const activeVersion =
  'join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active'

/** Workflows with an active version that the person who added them may still start. */
const offeredBy = (template: string): string =>
  `select ${offerColumns}, p.added_by, p.position from template_workflows p
   join workflows w on w.workspace_id = p.workspace_id and w.workflow_id = p.workflow_id and w.deleted_at is null
     and not w.activation_required ${activeVersion}
   where p.workspace_id = $1 and p.template_id = ${template} and (w.owner_id = p.added_by or exists (
     select from workflow_people m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = p.added_by and m.role in ('editor', 'member')))`

const offerOf = (workflow: string): string =>
  `select ${offerColumns}, null::uuid as added_by, 0 as position from workflows w ${activeVersion}
   where w.workspace_id = $1 and w.workflow_id = ${workflow} and w.deleted_at is null and not w.activation_required`

/** An offer as stored: its inputs include the property that receives the conversation. */
type StoredOffer = Omit<Offer, 'conversation_field'>

const offered = (row: StoredOffer): Offer => {
  const { inputs, conversationField } = splitInputs(row.inputs)
  return { ...row, inputs, conversation_field: conversationField }
}

export const offersOfTemplate = async (tx: Tx, workspaceId: string, templateId: string): Promise<Offer[]> =>
  (await tx.rows<StoredOffer>(`${offeredBy('$2')} order by p.position, w.workflow_id`, [workspaceId, templateId])).map(
    offered,
  )

export const offersOfWorkflow = async (tx: Tx, workspaceId: string, workflowId: string): Promise<Offer[]> =>
  (await tx.rows<StoredOffer>(offerOf('$2'), [workspaceId, workflowId])).map(offered)

/** Returns those of these workflows that have an active version and that this person may start. */
export const offersOfPerson = async (
  tx: Tx,
  workspaceId: string,
  workflowIds: string[],
  userId: string,
): Promise<Offer[]> =>
  (
    await tx.rows<StoredOffer>(
      `select ${offerColumns}, $3::uuid as added_by from workflows w ${activeVersion}
       where w.workspace_id = $1 and w.workflow_id = any ($2) and w.deleted_at is null and not w.activation_required
         and (w.owner_id = $3 or exists (select from workflow_people m where m.workspace_id = w.workspace_id
           and m.workflow_id = w.workflow_id and m.user_id = $3 and m.role in ('editor', 'member')))
       order by w.workflow_id`,
      [workspaceId, workflowIds, userId],
    )
  ).map(offered)

/** The data that a turn reads besides its thread. */
export type ThreadContext = { voice: AssistantSettings | undefined; offers: Offer[]; form: FormRow | null }

const around = (template: string, workflow: string): string =>
  `(select row_to_json(s) from (select p.name, p.greeting, p.locale, p.instructions, p.model, p.owner_id, p.llm, p.mode, p.knowledge_ids, p.tools,
        coalesce((p.features ->> 'names')::boolean, false) as names from templates p
      where p.workspace_id = $1 and p.template_id = ${template}) s) as voice,
   (select json_agg(o order by o.position, o.workflow_id) from (
      ${offeredBy(template)} union all ${offerOf(workflow)}) o) as offers`

type Around = { voice: AssistantSettings | null; offers: StoredOffer[] | null; form?: FormRow | null }

const read = (found: Around | undefined): ThreadContext => ({
  voice: found?.voice ?? undefined,
  offers: (found?.offers ?? []).map(offered),
  form: found?.form ?? null,
})

/**
 * Reads everything in one statement, which runs after the statement that locks the thread. A statement that waits for
 * a lock reads all other tables as they were before the wait.
 */
export const readThreadContext = async (tx: Tx, workspaceId: string, threadId: string): Promise<ThreadContext> =>
  read(
    await tx.maybe<Around>(
      `select ${around('t.template_id', 't.workflow_id')},
         (select row_to_json(f) from (select ${formColumns} from forms g
            where g.workspace_id = $1 and g.thread_id = $2 and g.status = 'open') f) as form
       from threads t where t.workspace_id = $1 and t.thread_id = $2`,
      [workspaceId, threadId],
    ),
  )

/** As `readSurroundings`, for a new conversation. */
export const threadContextOf = async (
  tx: Tx,
  workspaceId: string,
  { template_id, workflow_id }: { template_id: string | null; workflow_id: string | null },
): Promise<ThreadContext> =>
  read(await tx.maybe<Around>(`select ${around('$2::uuid', '$3::uuid')}`, [workspaceId, template_id, workflow_id]))
