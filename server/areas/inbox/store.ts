import { outsideColumns, outsideTables, type Reader, readableOutside } from '#areas/threads/outside'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Conversation, conversationList } from './schema.ts'
import { findContaining } from './search-store.ts'

const MAX_WORDS = 300

/** `r` is the position up to which the caller has read. */
const columns = `${outsideColumns}, case when t.closed_at is null then 'open' else 'closed' end as state, t.waiting_since,
  (select json_build_object('user_id', u.user_id, 'name', u.name) from users u where u.user_id = t.assigned_to) as assignee,
  (select count(*)::integer from messages m where m.workspace_id = t.workspace_id and m.thread_id = t.thread_id
    and m.role = 'visitor' and m.seq > coalesce(r.seq, 0) and m.seq <= t.last_visitor_seq) as unread_count,
  (select json_build_object('message_id', m.message_id, 'role', m.role, 'author_name', m.author_name,
      'text', left(m.text, ${MAX_WORDS}), 'created_at', m.created_at)
    from messages m where m.workspace_id = t.workspace_id and m.thread_id = t.thread_id order by m.seq desc limit 1) as last_message,
  t.state -> 'visit' as visit`
/** Columns that lists can filter by but do not show. */
const filters = `t.assigned_to as assignee_id, t.assigned_to is not null as assigned, t.waiting_since is not null as waiting,
  t.last_visitor_seq > coalesce(r.seq, 0) as unread`
const tables = `${outsideTables}
  left join conversation_reads r on r.workspace_id = t.workspace_id and r.thread_id = t.thread_id and r.user_id = $2`

type Listed = Conversation & { assignee_id: unknown; assigned: unknown; waiting: unknown; unread: unknown }

/** `q` searches titles and messages with an index. */
export async function listConversations(tx: Tx, workspaceId: string, reader: Reader, { q, ...asked }: ListInput) {
  const found = q === undefined ? null : await findContaining(tx, workspaceId, q)
  const { items, next_cursor } = await readList<Listed>(tx, conversationList, asked, {
    sql: `select ${columns}, ${filters} from ${tables} where ${readableOutside} and ($4::uuid[] is null or t.thread_id = any($4)
        or t.title is null and (t.template_id = any($5::uuid[]) or t.workflow_id = any($6::uuid[])))`,
    values: [
      workspaceId,
      reader.user_id,
      reader.role,
      found?.threads ?? null,
      found?.templates ?? null,
      found?.workflows ?? null,
    ],
  })
  return {
    items: items.map(({ assignee_id: _a, assigned: _b, waiting: _c, unread: _d, ...shown }) => shown),
    next_cursor,
  }
}

export const findConversation = (
  tx: Tx,
  workspaceId: string,
  reader: Reader,
  threadId: string,
): Promise<Conversation | undefined> =>
  tx.maybe<Conversation>(`select ${columns} from ${tables} where ${readableOutside} and t.thread_id = $4`, [
    workspaceId,
    reader.user_id,
    reader.role,
    threadId,
  ])

/** Returns a person's role in the workspace. Undefined if the person is not a member. */
export const findRole = async (tx: Tx, workspaceId: string, userId: string): Promise<string | undefined> =>
  (
    await tx.maybe<{ role: string }>('select role from memberships where workspace_id = $1 and user_id = $2', [
      workspaceId,
      userId,
    ])
  )?.role

export const isReader = async (tx: Tx, workspaceId: string, reader: Reader, threadId: string): Promise<boolean> =>
  (await tx.maybe(`select from ${outsideTables} where ${readableOutside} and t.thread_id = $4`, [
    workspaceId,
    reader.user_id,
    reader.role,
    threadId,
  ])) !== undefined

export const lockConversation = (tx: Tx, workspaceId: string, threadId: string): Promise<unknown> =>
  tx.rows('select from threads where workspace_id = $1 and thread_id = $2 for update', [workspaceId, threadId])

export const assign = (tx: Tx, workspaceId: string, threadId: string, userId: string | null): Promise<number> =>
  tx.count('update threads set assigned_to = $3 where workspace_id = $1 and thread_id = $2', [
    workspaceId,
    threadId,
    userId,
  ])

/** Closes or reopens a conversation. A closed conversation waits for no one. */
export const setClosed = (tx: Tx, workspaceId: string, threadId: string, closed: boolean): Promise<number> =>
  tx.count(
    closed
      ? `update threads set closed_at = coalesce(closed_at, now()), waiting_since = null, handover_at = null, handover_reason = null
         where workspace_id = $1 and thread_id = $2`
      : 'update threads set closed_at = null where workspace_id = $1 and thread_id = $2',
    [workspaceId, threadId],
  )

/** Returns the number of the given message, or of the last one. Undefined if the conversation has no such message. */
export const findSeq = async (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  messageId: string | undefined,
): Promise<number | undefined> =>
  (
    await tx.maybe<{ seq: number }>(
      messageId === undefined
        ? 'select last_seq as seq from threads where workspace_id = $1 and thread_id = $2 and $3::uuid is null'
        : 'select seq from messages where workspace_id = $1 and thread_id = $2 and message_id = $3',
      [workspaceId, threadId, messageId ?? null],
    )
  )?.seq

/** The position never goes back, so that two windows of one person do not undo each other. */
export const markRead = (tx: Tx, workspaceId: string, threadId: string, userId: string, seq: number): Promise<number> =>
  tx.count(
    `insert into conversation_reads (workspace_id, thread_id, user_id, seq) values ($1, $2, $3, $4)
     on conflict (workspace_id, thread_id, user_id) do update set seq = greatest(conversation_reads.seq, excluded.seq)`,
    [workspaceId, threadId, userId, seq],
  )
