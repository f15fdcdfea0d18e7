import { enterScope } from '#platform/auth/scope'
import type { Tx } from '#platform/db/pool'

export type Message = {
  workspace_id: string
  message_id: string
  user_id: string
  kind: string
  matter: string | null
  title: string
  body: string | null
  link: string | null
  state: 'due' | 'sent' | 'done'
  attempts: number
  sent_at: Date | null
  expires_at: Date
  payload_sha256: string | null
  used_at: Date | null
  codes_sent: number
  /** The linked account in a channel. Null for mail. */
  identity_id: string | null
  /** The vendor's reference of the message in the channel. */
  sent_ref: string | null
  /** How the gate or question ended, if the message in the channel must show it. */
  outcome: string | null
}

/** A message with its recipient and their address. */
export type Addressed = Message & {
  org_id: string
  workspace_name: string
  requires_factor: boolean
  name: string
  email: string
  is_verified: boolean
  /** The language of mails. Null if the person has chosen none. */
  language: string | null
}

const columns = `m.workspace_id, m.message_id, m.user_id, m.kind, m.matter, m.title, m.body, m.link, m.state, m.attempts, m.sent_at,
  m.expires_at, m.payload_sha256, m.used_at, m.codes_sent, m.identity_id, m.sent_ref, m.outcome`

/**
 * Returns undefined if the link has expired or the person has left the workspace, since the row is deleted with the
 * membership. After this call, the transaction runs in the scope of that person.
 */
export async function findMessage(
  tx: Tx,
  workspaceId: string,
  messageId: string,
  { lock = false } = {},
): Promise<Addressed | undefined> {
  const named = await tx.maybe<{ user_id: string }>(
    'select user_id from reach_messages where workspace_id = $1 and message_id = $2',
    [workspaceId, messageId],
  )
  if (!named) return undefined
  await enterScope(tx, { workspaceId, userId: named.user_id })
  return tx.maybe<Addressed>(
    `select ${columns}, w.org_id, w.name as workspace_name, w.require_second_factor as requires_factor, u.name, u.email,
       u.email_verified_at is not null as is_verified, u.language
     from reach_messages m join workspaces w on w.workspace_id = m.workspace_id
     join memberships s on s.workspace_id = m.workspace_id and s.user_id = m.user_id join users u on u.user_id = m.user_id
     where m.workspace_id = $1 and m.message_id = $2 and m.expires_at > now() ${lock ? 'for update of m' : ''}`,
    [workspaceId, messageId],
  )
}

export const markUsed = (tx: Tx, { workspace_id, message_id }: Message): Promise<number> =>
  tx.count('update reach_messages set used_at = now(), code_hash = null where workspace_id = $1 and message_id = $2', [
    workspace_id,
    message_id,
  ])

export const keepCode = (
  tx: Tx,
  { workspace_id, message_id }: Message,
  hash: Buffer,
  lifetimeS: number,
): Promise<number> =>
  tx.count(
    `update reach_messages set codes_sent = codes_sent + 1, code_tries = 0, code_hash = $3, code_expires_at = now() + make_interval(secs => $4)
     where workspace_id = $1 and message_id = $2`,
    [workspace_id, message_id, hash, lifetimeS],
  )

/** Counts an attempt, even if it fails. Returns undefined if there is no code or no attempt left. */
export const takeTry = (
  tx: Tx,
  { workspaceId, messageId }: { workspaceId: string; messageId: string },
  most: number,
): Promise<{ code_hash: Buffer } | undefined> =>
  tx.maybe<{ code_hash: Buffer }>(
    `update reach_messages set code_tries = code_tries + 1
     where workspace_id = $1 and message_id = $2 and code_hash is not null and code_expires_at > now() and code_tries < $3 returning code_hash`,
    [workspaceId, messageId, most],
  )

/**
 * Stores the hash of the shown payload before the message is sent: a vote through the message is valid only for that
 * payload.
 */
export const bindPayload = (tx: Tx, { workspace_id, message_id }: Message, sha256: string): Promise<number> =>
  tx.count('update reach_messages set payload_sha256 = $3 where workspace_id = $1 and message_id = $2', [
    workspace_id,
    message_id,
    sha256,
  ])

/**
 * Marks a message as sent. If its question was closed while it was being sent, it stays done, or becomes due again in a
 * channel so that the message is updated.
 */
export const markSent = (tx: Tx, { workspace_id, message_id }: Message, ref: string | null = null): Promise<number> =>
  tx.count(
    `update reach_messages set sent_at = now(), sent_ref = coalesce($3, sent_ref),
       state = case when state = 'due' then 'sent' when $3 is not null and outcome is not null then 'due' else state end
     where workspace_id = $1 and message_id = $2`,
    [workspace_id, message_id, ref],
  )

/** Marks a message as updated. If others still have to decide, the message is updated again when the gate is closed. */
export const markChanged = (tx: Tx, { workspace_id, message_id, outcome }: Message, isOver: boolean): Promise<number> =>
  tx.count(
    `update reach_messages set state = $4 where workspace_id = $1 and message_id = $2 and outcome is not distinct from $3`,
    [workspace_id, message_id, outcome, isOver ? 'done' : 'sent'],
  )

export const markDone = (tx: Tx, { workspace_id, message_id }: Message): Promise<number> =>
  tx.count(`update reach_messages set state = 'done' where workspace_id = $1 and message_id = $2`, [
    workspace_id,
    message_id,
  ])

export const delay = (tx: Tx, { workspace_id, message_id }: Message, seconds: number): Promise<number> =>
  tx.count(
    'update reach_messages set next_at = now() + make_interval(secs => $3) where workspace_id = $1 and message_id = $2',
    [workspace_id, message_id, seconds],
  )

/** Counts the messages that this person received within the last hour. */
export const countSent = async (tx: Tx, { workspace_id, user_id }: Message): Promise<number> => {
  const { sent } = await tx.row<{ sent: number }>(
    `select count(*)::int as sent from reach_messages
     where workspace_id = $1 and user_id = $2 and sent_at > now() - interval '1 hour'`,
    [workspace_id, user_id],
  )
  return sent
}
