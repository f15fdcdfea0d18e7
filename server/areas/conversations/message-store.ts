import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { newId } from '#platform/ids'
import type { Citation } from './agent/types.ts'
import { hintChange } from './changes.ts'
import { messageList } from './message-list.ts'
import { insertThread, type LockedThread } from './thread-store.ts'
import type { Message, MessageRole } from './types.ts'

const messageColumns = 'message_id, role, author_id, author_name, text, audio_id, execution_id, citations, created_at'

export type NewMessage = {
  role: MessageRole
  text: string
  author_id?: string | null
  author_name?: string | null
  external_author?: string | null
  audio_id?: string | null
  execution_id?: string | null
  request_key?: Buffer | null
  citations?: Citation[] | null
  /** The turn of the message if it is not the current turn. 0 for messages before the first turn. */
  turn?: number
}

/** A notice about an execution. Each notice is posted only once. */
export type Notice = { text: string; about: string; execution_id: string }

/**
 * Posts a notice and saves the state of the conversation in one statement. Returns undefined if the notice was posted
 * before. The caller has locked the thread.
 */
export async function postNotice(tx: Tx, thread: LockedThread, notice: Notice): Promise<Message | undefined> {
  const message = {
    message_id: newId(),
    role: 'assistant' as const,
    text: notice.text,
    execution_id: notice.execution_id,
  }
  const told = await tx.maybe<{ created_at: Date | null }>(
    `with told as (
       insert into messages (workspace_id, thread_id, turn, message_id, seq, role, text, execution_id, about)
       values ($1, $2, $4, $6, $5 + 1, 'assistant', $7, $8, $9)
       on conflict (workspace_id, thread_id, execution_id, about) where about is not null do nothing returning created_at)
     update threads set state = $3, turn = $4, last_seq = $5 + (select count(*) from told), updated_at = now()
     where workspace_id = $1 and thread_id = $2 returning (select created_at from told) as created_at`,
    [
      thread.workspace_id,
      thread.thread_id,
      JSON.stringify(thread.state),
      thread.turn,
      thread.last_seq,
      message.message_id,
      message.text,
      message.execution_id,
      notice.about,
    ],
  )
  if (!told?.created_at) return undefined
  hintChange(tx, thread.workspace_id)
  thread.last_seq += 1
  return { ...message, author_id: null, author_name: null, audio_id: null, created_at: told.created_at }
}

const insertion = `insert into messages (workspace_id, thread_id, turn, message_id, seq, role, author_id, author_name, external_author, text, audio_id, execution_id, citations, request_key)
  select $1, $2, m.turn, m.message_id, m.seq, m.role, m.author_id, m.author_name, m.external_author, m.text, m.audio_id, m.execution_id, m.citations, decode(m.request_key, 'hex')
  from json_to_recordset($3) as m (turn integer, message_id uuid, seq integer, role text, author_id uuid, author_name text,
    external_author text, text text, audio_id uuid, execution_id uuid, citations json, request_key text)
  returning seq, created_at`
/**
 * Since when the person outside waits for a person. The wait starts with their first message that no assistant will
 * answer. It ends with a colleague's message, or with the assistant's message if it has the conversation again. A
 * message of the person outside reopens a closed conversation.
 */
const waiting = `case when $8 then null
    when $9 and handover_at is null and (taken_over_by is null or taken_over_until <= now()) then null
    when $7 > last_visitor_seq and kind in ('embed', 'channel')
      and (handover_at is not null or template_id is null or (taken_over_by is not null and taken_over_until > now()))
      then coalesce(waiting_since, now())
    else waiting_since end`
const saving = `with saved as (
  update threads set state = $4, turn = $5, last_seq = $6, last_visitor_seq = $7, waiting_since = ${waiting},
    closed_at = case when $7 > last_visitor_seq then null else closed_at end, updated_at = now()
  where workspace_id = $1 and thread_id = $2)
  ${insertion}`

/**
 * Saves a whole turn: its messages and the resulting state of the conversation. `fresh` is true if the thread starts
 * with this turn.
 */
export async function saveTurn(
  tx: Tx,
  thread: LockedThread,
  messages: NewMessage[],
  fresh = false,
): Promise<Message[]> {
  const rows = messages.map((message, at) => ({
    ...message,
    turn: message.turn ?? thread.turn,
    message_id: newId(),
    seq: thread.last_seq + 1 + at,
    request_key: message.request_key?.toString('hex') ?? null,
  }))
  thread.last_seq += rows.length
  thread.last_visitor_seq = rows.findLast(({ role }) => role === 'visitor')?.seq ?? thread.last_visitor_seq
  hintChange(tx, thread.workspace_id)
  const spoke = (role: MessageRole): boolean => rows.some((row) => row.role === role)
  const place = [thread.workspace_id, thread.thread_id, JSON.stringify(rows)]
  type Saved = { seq: number; created_at: Date }
  // Both statements are sent in one round trip.
  const [, saved] = await (fresh
    ? Promise.all([insertThread(tx, thread), tx.rows<Saved>(insertion, place)])
    : Promise.all([
        1,
        tx.rows<Saved>(saving, [
          ...place,
          JSON.stringify(thread.state),
          thread.turn,
          thread.last_seq,
          thread.last_visitor_seq,
          spoke('user'),
          spoke('assistant'),
        ]),
      ]))
  const times = new Map(saved.map(({ seq, created_at }) => [seq, created_at]))
  return rows.map((row) => ({
    message_id: row.message_id,
    role: row.role,
    author_id: row.author_id ?? null,
    author_name: row.author_name ?? null,
    text: row.text,
    audio_id: row.audio_id ?? null,
    execution_id: row.execution_id ?? null,
    citations: row.citations ?? null,
    created_at: times.get(row.seq)!,
  }))
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

/** Returns the messages that match the list query. */
export const searchMessages = (tx: Tx, workspaceId: string, threadId: string, asked: ListInput) =>
  readList<Message & { seq: number }>(tx, messageList, asked, {
    sql: `select ${messageColumns}, seq from messages where workspace_id = $1 and thread_id = $2`,
    values: [workspaceId, threadId],
  })

/** Returns the position of a message in its thread. Returns 0, before all messages, if the message does not exist. */
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

/** Returns the last messages before `before`, oldest first. */
export const historyOf = async (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  count: number,
  before: number | null = null,
): Promise<Pick<Message, 'role' | 'text' | 'author_name' | 'created_at'>[]> => {
  const rows = await tx.rows<Pick<Message, 'role' | 'text' | 'author_name' | 'created_at'>>(
    `select role, text, author_name, created_at from messages where workspace_id = $1 and thread_id = $2
       and ($4::integer is null or seq < $4) order by seq desc limit $3`,
    [workspaceId, threadId, count, before],
  )
  return rows.reverse()
}

export const findMessage = (tx: Tx, workspaceId: string, threadId: string, seq: number): Promise<Message | undefined> =>
  tx.maybe<Message>(`select ${messageColumns} from messages where workspace_id = $1 and thread_id = $2 and seq = $3`, [
    workspaceId,
    threadId,
    seq,
  ])

/** Returns the answers of a turn: its messages after the message that started it. */
export const answersOf = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  turn: number,
  after: number,
): Promise<Message[]> =>
  tx.rows<Message>(
    `select ${messageColumns} from messages
     where workspace_id = $1 and thread_id = $2 and turn = $3 and seq > $4 and about is null order by seq`,
    [workspaceId, threadId, turn, after],
  )

export const lastMessage = (tx: Tx, workspaceId: string, threadId: string): Promise<{ text: string } | undefined> =>
  tx.maybe<{ text: string }>(
    `select text from messages where workspace_id = $1 and thread_id = $2 and role = 'assistant' order by seq desc limit 1`,
    [workspaceId, threadId],
  )

/** Returns the messages of an earlier delivery with this key, within a day. Older keys may be used again. */
export const messagesOfRequest = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  requestKey: Buffer,
): Promise<Message[]> =>
  tx.rows<Message>(
    `with forgotten as (
       update messages set request_key = null where workspace_id = $1 and request_key = $3 and created_at <= now() - interval '24 hours')
     select ${messageColumns} from messages where workspace_id = $1 and thread_id = $2 and about is null and turn = (
       select turn from messages where workspace_id = $1 and thread_id = $2 
         and request_key = $3 and created_at > now() - interval '24 hours') order by seq`,
    [workspaceId, threadId, requestKey],
  )
