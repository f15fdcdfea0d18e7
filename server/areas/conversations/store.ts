import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { readState, type State } from './state.ts'
import type { Form, Message, MessageRole, Thread } from './types.ts'

const threadColumns =
  'workspace_id, thread_id, kind, title, template_id, workflow_id, visitor_id, config_id, external_id, created_by, created_at, updated_at'
const messageColumns = 'message_id, role, author_id, author_name, text, audio_id, execution_id, created_at'

export const findThread = (tx: Tx, workspaceId: string, threadId: string): Promise<Thread | undefined> =>
  tx.maybe<Thread>(`select ${threadColumns} from threads where workspace_id = $1 and thread_id = $2`, [
    workspaceId,
    threadId,
  ])

export const findChannelThread = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  externalId: string,
): Promise<Thread | undefined> =>
  tx.maybe<Thread>(
    `select ${threadColumns} from threads where workspace_id = $1 and config_id = $2 and external_id = $3 and kind = 'channel'`,
    [workspaceId, configId, externalId],
  )

/** Undefined where the channel's conversation was opened by somebody else meanwhile. */
export const insertThread = (
  tx: Tx,
  thread: Omit<Thread, 'created_at' | 'updated_at'> & { state: State },
): Promise<Thread | undefined> =>
  tx.maybe<Thread>(
    `insert into threads (workspace_id, thread_id, kind, title, template_id, workflow_id, visitor_id, config_id, external_id, created_by, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (workspace_id, config_id, external_id) where kind = 'channel' do nothing returning ${threadColumns}`,
    [
      thread.workspace_id,
      thread.thread_id,
      thread.kind,
      thread.title,
      thread.template_id,
      thread.workflow_id,
      thread.visitor_id,
      thread.config_id,
      thread.external_id,
      thread.created_by,
      JSON.stringify(thread.state),
    ],
  )

/** The thread as its writer holds it: nobody else writes to it until the transaction ends. */
export type Held = Thread & { state: State; turn: number; last_seq: number }

const read = (row: (Thread & { state: Partial<State>; turn: number; last_seq: number }) | undefined) =>
  row && { ...row, state: readState(row.state) }

export const lockThread = async (tx: Tx, workspaceId: string, threadId: string): Promise<Held | undefined> =>
  read(
    await tx.maybe(
      `select ${threadColumns}, state, turn, last_seq from threads where workspace_id = $1 and thread_id = $2 for update`,
      [workspaceId, threadId],
    ),
  )

export const readThread = async (tx: Tx, workspaceId: string, threadId: string): Promise<Held | undefined> =>
  read(
    await tx.maybe(
      `select ${threadColumns}, state, turn, last_seq from threads where workspace_id = $1 and thread_id = $2`,
      [workspaceId, threadId],
    ),
  )

export const saveThread = (tx: Tx, held: Held): Promise<number> =>
  tx.count(
    'update threads set state = $3, turn = $4, last_seq = $5, updated_at = now() where workspace_id = $1 and thread_id = $2',
    [held.workspace_id, held.thread_id, JSON.stringify(held.state), held.turn, held.last_seq],
  )

export type NewMessage = {
  role: MessageRole
  text: string
  author_id?: string | null
  author_name?: string | null
  external_author?: string | null
  audio_id?: string | null
  execution_id?: string | null
  about?: string | null
  request_key?: Buffer | null
}

/** Undefined where what it tells of was told before. The thread is held. */
export async function addMessage(tx: Tx, held: Held, message: NewMessage): Promise<Message | undefined> {
  const added = await tx.maybe<Message>(
    `insert into messages (workspace_id, message_id, thread_id, seq, turn, role, author_id, author_name, external_author, text, audio_id, execution_id, about, request_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (workspace_id, thread_id, execution_id, about) where about is not null do nothing returning ${messageColumns}`,
    [
      held.workspace_id,
      newId(),
      held.thread_id,
      held.last_seq + 1,
      held.turn,
      message.role,
      message.author_id ?? null,
      message.author_name ?? null,
      message.external_author ?? null,
      message.text,
      message.audio_id ?? null,
      message.execution_id ?? null,
      message.about ?? null,
      message.request_key ?? null,
    ],
  )
  if (added) held.last_seq += 1
  return added
}

/** A turn as a whole: everything that was said, and where the conversation stands after it. */
export async function saveTurn(tx: Tx, held: Held, said: NewMessage[]): Promise<Message[]> {
  const rows = said.map((message, at) => ({
    ...message,
    message_id: newId(),
    seq: held.last_seq + 1 + at,
    request_key: message.request_key?.toString('hex') ?? null,
  }))
  held.last_seq += rows.length
  const saved = await tx.rows<Message & { seq: number }>(
    `with saved as (
       update threads set state = $3, turn = $4, last_seq = $5, updated_at = now() where workspace_id = $1 and thread_id = $2)
     insert into messages (workspace_id, thread_id, turn, message_id, seq, role, author_id, author_name, external_author, text, audio_id, execution_id, request_key)
     select $1, $2, $4, m.message_id, m.seq, m.role, m.author_id, m.author_name, m.external_author, m.text, m.audio_id, m.execution_id, decode(m.request_key, 'hex')
     from json_to_recordset($6) as m (message_id uuid, seq integer, role text, author_id uuid, author_name text,
       external_author text, text text, audio_id uuid, execution_id uuid, request_key text)
     returning ${messageColumns}, seq`,
    [held.workspace_id, held.thread_id, JSON.stringify(held.state), held.turn, held.last_seq, JSON.stringify(rows)],
  )
  return saved.toSorted((a, b) => a.seq - b.seq)
}

export const listMessages = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  after: number,
  limit: number,
): Promise<(Message & { seq: number })[]> =>
  tx.rows<Message & { seq: number }>(
    `select ${messageColumns}, seq from messages where workspace_id = $1 and thread_id = $2 and seq > $3 order by seq limit $4`,
    [workspaceId, threadId, after, limit],
  )

/** Where a message stands in its thread; before all others where it is not there. */
export const seqOf = async (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  messageId: string | undefined,
): Promise<number> => {
  if (messageId === undefined) return 0
  const found = await tx.maybe<{ seq: number }>(
    'select seq from messages where workspace_id = $1 and thread_id = $2 and message_id = $3',
    [workspaceId, threadId, messageId],
  )
  return found?.seq ?? 0
}

export const lastMessages = async (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  count: number,
): Promise<Pick<Message, 'role' | 'text'>[]> => {
  const rows = await tx.rows<Pick<Message, 'role' | 'text'>>(
    'select role, text from messages where workspace_id = $1 and thread_id = $2 order by seq desc limit $3',
    [workspaceId, threadId, count],
  )
  return rows.reverse()
}

export const lastSaid = (tx: Tx, workspaceId: string, threadId: string): Promise<{ text: string } | undefined> =>
  tx.maybe<{ text: string }>(
    `select text from messages where workspace_id = $1 and thread_id = $2 and role = 'assistant' order by seq desc limit 1`,
    [workspaceId, threadId],
  )

/** The turn that a delivery with this key belongs to, if it was taken before. */
export const findTurn = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  requestKey: Buffer,
): Promise<{ turn: number } | undefined> =>
  tx.maybe<{ turn: number }>(
    'select turn from messages where workspace_id = $1 and thread_id = $2 and request_key = $3',
    [workspaceId, threadId, requestKey],
  )

export const messagesOfTurn = (tx: Tx, workspaceId: string, threadId: string, turn: number): Promise<Message[]> =>
  tx.rows<Message>(
    `select ${messageColumns} from messages where workspace_id = $1 and thread_id = $2 and turn = $3 and about is null order by seq`,
    [workspaceId, threadId, turn],
  )

// Forms

export type FormRow = Form & {
  kind: 'parameters' | 'question'
  status: 'open' | 'submitted' | 'cancelled' | 'replaced'
}
const formColumns = 'form_id, title, schema, "values", kind, status'

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
  form: { kind: FormRow['kind']; title: string; schema: Json; values: JsonObject },
): Promise<FormRow> =>
  tx.row<FormRow>(
    `insert into forms (workspace_id, form_id, thread_id, kind, title, schema, "values", turn) values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${formColumns}`,
    [
      held.workspace_id,
      newId(),
      held.thread_id,
      form.kind,
      form.title,
      JSON.stringify(form.schema),
      JSON.stringify(form.values),
      held.turn,
    ],
  )

export const updateFormValues = (tx: Tx, workspaceId: string, formId: string, values: JsonObject): Promise<FormRow> =>
  tx.row<FormRow>(`update forms set "values" = $3 where workspace_id = $1 and form_id = $2 returning ${formColumns}`, [
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

// What a conversation may start

export type Offer = {
  workflow_id: string
  name: string
  description: string | null
  settings: { timeout_s?: number; max_concurrency?: number }
  version_id: string
  inputs: Json | null
}

const offerColumns = `w.workflow_id, w.name, w.description, w.settings, v.version_id, v.definition -> 'inputs' as inputs`
const activeVersion =
  'join workflow_versions v on v.workspace_id = w.workspace_id and v.workflow_id = w.workflow_id and v.active'

/** Workflows that exist, have an active version, and that whoever added them may still start. */
export const offersOfTemplate = (tx: Tx, workspaceId: string, templateId: string): Promise<Offer[]> =>
  tx.rows<Offer>(
    `select ${offerColumns} from template_workflows t
     join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id and w.deleted_at is null ${activeVersion}
     where t.workspace_id = $1 and t.template_id = $2 and (w.owner_id = t.added_by or exists (
       select from workflow_members m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = t.added_by and m.role = 'member'))
     order by t.position, w.workflow_id`,
    [workspaceId, templateId],
  )

export const offersOfWorkflow = (tx: Tx, workspaceId: string, workflowId: string): Promise<Offer[]> =>
  tx.rows<Offer>(
    `select ${offerColumns} from workflows w ${activeVersion} where w.workspace_id = $1 and w.workflow_id = $2 and w.deleted_at is null`,
    [workspaceId, workflowId],
  )

export type Voice = { name: string; greeting: string | null; instructions: string | null; model: string | null }

export const findVoice = (tx: Tx, workspaceId: string, templateId: string): Promise<Voice | undefined> =>
  tx.maybe<Voice>(
    'select name, greeting, instructions, model from templates where workspace_id = $1 and template_id = $2',
    [workspaceId, templateId],
  )

// Executions of a conversation

export const insertExecution = (
  tx: Tx,
  held: Held,
  execution: { execution_id: string; workflow_id: string; title: string },
): Promise<number> =>
  tx.count(
    'insert into thread_executions (workspace_id, execution_id, thread_id, workflow_id, title, turn) values ($1, $2, $3, $4, $5, $6)',
    [held.workspace_id, execution.execution_id, held.thread_id, execution.workflow_id, execution.title, held.turn],
  )

export type OwnExecution = { thread_id: string; execution_id: string; title: string }

export const findExecution = (tx: Tx, workspaceId: string, executionId: string): Promise<OwnExecution | undefined> =>
  tx.maybe<OwnExecution>(
    'select thread_id, execution_id, title from thread_executions where workspace_id = $1 and execution_id = $2',
    [workspaceId, executionId],
  )

/** The conversation that started the execution, or one that started an execution which started this one. */
export const findAncestor = (tx: Tx, workspaceId: string, executionId: string): Promise<OwnExecution | undefined> =>
  tx.maybe<OwnExecution>(
    `with recursive up as (
       select execution_id, parent_execution_id, 0 as height from executions where workspace_id = $1 and execution_id = $2
       union all select e.execution_id, e.parent_execution_id, up.height + 1 from executions e
         join up on e.workspace_id = $1 and e.execution_id = up.parent_execution_id where up.height < 32)
     select t.thread_id, t.execution_id, t.title from up join thread_executions t on t.workspace_id = $1 and t.execution_id = up.execution_id
     order by up.height limit 1`,
    [workspaceId, executionId],
  )

export type Standing = {
  execution_id: string
  status: string
  waiting_for: { kind: string; title?: string }[]
  results: Json
  large: boolean
  error: { code: string; message: string } | null
}

export const readStandings = (tx: Tx, workspaceId: string, executionIds: string[]): Promise<Standing[]> =>
  tx.rows<Standing>(
    'select execution_id, status, waiting_for, results, results_blob is not null as large, error from executions where workspace_id = $1 and execution_id = any ($2)',
    [workspaceId, executionIds],
  )

/** The conversation of an execution whose end it does not show yet. */
export const findUntold = (tx: Tx, workspaceId: string, executionId: string): Promise<OwnExecution | undefined> =>
  tx.maybe<OwnExecution>(
    `select t.thread_id, t.execution_id, t.title from thread_executions t where t.workspace_id = $1 and t.execution_id = $2
       and not exists (select from messages m where m.workspace_id = $1 and m.thread_id = t.thread_id and m.execution_id = $2 and m.about = 'result')`,
    [workspaceId, executionId],
  )

export const findThreadOfRequest = (tx: Tx, workspaceId: string, requestKey: Buffer): Promise<Thread | undefined> =>
  tx.maybe<Thread>(
    `select ${threadColumns
      .split(', ')
      .map((column) => `t.${column}`)
      .join(', ')} from messages m join threads t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
     where m.workspace_id = $1 and m.request_key = $2`,
    [workspaceId, requestKey],
  )
