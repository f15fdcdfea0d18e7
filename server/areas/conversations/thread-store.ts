import type { Tx } from '#platform/db/pool'
import { hintChange } from './changes.ts'
import { readState, type State } from './state.ts'
import type { Thread } from './types.ts'

const columns = [
  'workspace_id',
  'thread_id',
  'kind',
  'title',
  'template_id',
  'workflow_id',
  'visitor_id',
  'config_id',
  'external_id',
  'created_by',
]
const threadColumns = columns.join(', ')
const standing = `${[...columns, 'state', 'turn', 'last_seq', 'last_visitor_seq'].map((column) => `t.${column}`).join(', ')},
  case when t.taken_over_until > now() then t.taken_over_by end as taken_over_by,
  (select p.locale from templates p where p.workspace_id = t.workspace_id and p.template_id = t.template_id) as house`

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

/** Finds the thread of an earlier request with this key. A key is kept for a day and may be used again afterwards. */
export const findThreadOfRequest = (tx: Tx, workspaceId: string, requestKey: Buffer): Promise<Thread | undefined> =>
  tx.maybe<Thread>(
    `with forgotten as (
       update messages set request_key = null where workspace_id = $1 and request_key = $2 and created_at <= now() - interval '24 hours')
     select ${columns.map((column) => `t.${column}`).join(', ')} from messages m
     join threads t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
     where m.workspace_id = $1 and m.request_key = $2 and m.created_at > now() - interval '24 hours'`,
    [workspaceId, requestKey],
  )

/** Deletes the thread if it has no turn. */
export const forgetUnused = (tx: Tx, workspaceId: string, threadId: string): Promise<number> =>
  tx.count('delete from threads where workspace_id = $1 and thread_id = $2 and turn = 0', [workspaceId, threadId])

/** A thread that the current transaction has locked. No other transaction writes to it until the end. */
export type LockedThread = Thread & {
  /** The colleague who took over from the assistant. */
  taken_over_by: string | null
  state: State
  turn: number
  last_seq: number
  /** The last message of the person outside. */
  last_visitor_seq: number
}

/** Returns 0 if another request has opened the channel's conversation in the meantime. */
export const insertThread = (tx: Tx, thread: LockedThread): Promise<number> => {
  hintChange(tx, thread.workspace_id)
  return tx.count(
    `insert into threads (${threadColumns}, state, turn, last_seq, last_visitor_seq)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (workspace_id, config_id, external_id) where kind = 'channel' do nothing`,
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
      thread.turn,
      thread.last_seq,
      thread.last_visitor_seq,
    ],
  )
}

type Stored = Omit<LockedThread, 'state'> & { state: Partial<State>; house: string | null }

function read<Row extends Stored>(row: Row | undefined) {
  if (!row) return undefined
  const { house, ...thread } = row
  return { ...thread, state: { ...readState(row.state), house } }
}

export const lockThread = async (tx: Tx, workspaceId: string, threadId: string): Promise<LockedThread | undefined> =>
  read(
    await tx.maybe<Stored>(
      `select ${standing} from threads t where t.workspace_id = $1 and t.thread_id = $2 for update`,
      [workspaceId, threadId],
    ),
  )

export const readThread = async (tx: Tx, workspaceId: string, threadId: string): Promise<LockedThread | undefined> =>
  read(
    await tx.maybe<Stored>(`select ${standing} from threads t where t.workspace_id = $1 and t.thread_id = $2`, [
      workspaceId,
      threadId,
    ]),
  )

const ofExecution = `select ${standing}, e.title as called from thread_executions e
  join threads t on t.workspace_id = e.workspace_id and t.thread_id = e.thread_id where e.workspace_id = $1 and e.execution_id = $2`

/** Returns the conversation that started the execution, with the title it uses for the execution. */
export const readThreadOf = async (
  tx: Tx,
  workspaceId: string,
  executionId: string,
): Promise<(LockedThread & { called: string }) | undefined> =>
  read(await tx.maybe<Stored & { called: string }>(ofExecution, [workspaceId, executionId]))

export const lockThreadOf = async (
  tx: Tx,
  workspaceId: string,
  executionId: string,
): Promise<(LockedThread & { called: string }) | undefined> =>
  read(await tx.maybe<Stored & { called: string }>(`${ofExecution} for update of t`, [workspaceId, executionId]))

export const saveThread = (tx: Tx, thread: LockedThread): Promise<number> => {
  hintChange(tx, thread.workspace_id)
  return tx.count(
    'update threads set state = $3, turn = $4, last_seq = $5, updated_at = now() where workspace_id = $1 and thread_id = $2',
    [thread.workspace_id, thread.thread_id, JSON.stringify(thread.state), thread.turn, thread.last_seq],
  )
}

/**
 * Takes over a thread, or hands it back if `userId` is null. The assistant answers again twelve hours after the
 * colleague's last message, so that no conversation is forgotten. A colleague who takes over an unassigned
 * conversation is assigned to it. After a hand-back the visitor no longer waits for a person, unless a handover is
 * still requested.
 */
export const setTakenOver = (tx: Tx, thread: LockedThread, userId: string | null): Promise<number> => {
  hintChange(tx, thread.workspace_id)
  return tx.count(
    `update threads set taken_over_by = $3, taken_over_until = now() + interval '12 hours',
       handover_at = case when $3::uuid is null then handover_at end, handover_reason = case when $3::uuid is null then handover_reason end,
       waiting_since = case when $3::uuid is not null or handover_at is not null then waiting_since end,
       assigned_to = coalesce(assigned_to, $3), closed_at = case when $3::uuid is null then closed_at end
     where workspace_id = $1 and thread_id = $2`,
    [thread.workspace_id, thread.thread_id, userId],
  )
}

/** Marks all messages as read by a colleague who writes. */
export const noteRead = (tx: Tx, { workspace_id, thread_id, last_seq }: LockedThread, userId: string) =>
  tx.count(
    `insert into conversation_reads (workspace_id, thread_id, user_id, seq) values ($1, $2, $3, $4)
     on conflict (workspace_id, thread_id, user_id) do update set seq = greatest(conversation_reads.seq, excluded.seq)`,
    [workspace_id, thread_id, userId, last_seq],
  )

/** Returns the colleague with whom a visitor talks, and whether visitors see names. */
export const findColleague = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
): Promise<{ name: string | null; names: boolean; locale: string | null } | undefined> =>
  tx.maybe(
    `select u.name, coalesce((p.features ->> 'names')::boolean, false) as names, coalesce(t.state -> 'visit' ->> 'locale', p.locale) as locale from threads t
     left join templates p on p.workspace_id = t.workspace_id and p.template_id = t.template_id
     left join users u on u.user_id = t.taken_over_by and t.taken_over_until > now()
     where t.workspace_id = $1 and t.thread_id = $2`,
    [workspaceId, threadId],
  )
