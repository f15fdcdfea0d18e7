import type { Tx } from '#platform/db/pool'
import type { Address, Undelivered } from '#providers/channels/index'

// Outbound messages.

/** The notification channel that wakes the loops for outbound and inbound messages. */
export const CHANNEL_HINTS = 'channels'

export type Send = {
  send_id: string
  config_id: string
  lane: string
  dedupe_key: string
  address: Address
  text: string
}

export const insertSend = (tx: Tx, workspaceId: string, send: Send): Promise<number> =>
  tx.count(
    `insert into channel_sends (workspace_id, send_id, config_id, lane, dedupe_key, address, text) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (workspace_id, config_id, dedupe_key) do nothing`,
    [workspaceId, send.send_id, send.config_id, send.lane, send.dedupe_key, send.address, send.text],
  )

export const findSend = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  dedupeKey: string,
): Promise<{ send_id: string; state: string } | undefined> =>
  tx.maybe('select send_id, state from channel_sends where workspace_id = $1 and config_id = $2 and dedupe_key = $3', [
    workspaceId,
    configId,
    dedupeKey,
  ])

export const takeSend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  leaseS: number,
): Promise<(Send & { attempts: number; old: boolean; created_at: Date }) | undefined> =>
  tx.maybe(
    `update channel_sends set attempts = attempts + 1, not_before = now() + make_interval(secs => $3)
     where (workspace_id, send_id) in (select workspace_id, send_id from channel_sends
       where workspace_id = $1 and send_id = $2 and state = 'waiting' and not_before <= now() for update skip locked)
     returning send_id, config_id, lane, dedupe_key, address, text, attempts, created_at, created_at < now() - interval '1 day' as old`,
    [workspaceId, sendId, leaseS],
  )

/**
 * Records the outcome, unless the vendor has reported a failure in the meantime. The text of a sent message is deleted,
 * because the thread contains it.
 */
export const settleSend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  settled: { state: 'sent' } | { state: 'parked'; problem: string },
): Promise<number> =>
  tx.count(
    `update channel_sends set state = $3, problem = $4, settled_at = now(), text = case when $3 = 'sent' then '' else text end
     where workspace_id = $1 and send_id = $2 and state = 'waiting'`,
    [workspaceId, sendId, settled.state, 'problem' in settled ? settled.problem : null],
  )

/** Records that a message was not delivered, although the vendor accepted it. A repeated report changes nothing. */
export const failSend = (
  tx: Tx,
  workspaceId: string,
  configId: string,
  { reportId, reason }: Undelivered,
): Promise<number> =>
  tx.count(
    `update channel_sends set state = 'parked', problem = $4, settled_at = now()
     where workspace_id = $1 and config_id = $2 and send_id = $3 and state <> 'parked'`,
    [workspaceId, configId, reportId, reason],
  )

export const delaySend = (
  tx: Tx,
  workspaceId: string,
  sendId: string,
  seconds: number,
  reason: string,
): Promise<number> =>
  tx.count(
    `update channel_sends set not_before = now() + make_interval(secs => $3), problem = $4 where workspace_id = $1 and send_id = $2 and state = 'waiting'`,
    [workspaceId, sendId, seconds, reason],
  )

/** Makes all waiting messages of a channel due, after the channel was enabled again. */
export const wakeSends = async (tx: Tx, workspaceId: string, configId: string): Promise<void> => {
  const woken = await tx.count(
    `update channel_sends set not_before = now() where workspace_id = $1 and config_id = $2 and state = 'waiting'`,
    [workspaceId, configId],
  )
  if (woken > 0) tx.hint(CHANNEL_HINTS, '')
}

/**
 * Delays all messages of a config, because the vendor asked for fewer messages. The wait does not count as an attempt.
 */
export const slowDown = (
  tx: Tx,
  workspaceId: string,
  send: { send_id: string; config_id: string },
  seconds: number,
): Promise<number> =>
  tx.count(
    `update channel_sends set not_before = greatest(case when send_id = $3 then now() else not_before end, now() + make_interval(secs => $4)),
       attempts = case when send_id = $3 then attempts - 1 else attempts end
     where workspace_id = $1 and config_id = $2 and state = 'waiting'`,
    [workspaceId, send.config_id, send.send_id, seconds],
  )
