import type { Posted } from '#areas/conversations/types'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Channels } from '#providers/channels/channels'
import { type Address, ChannelFailure, type ChannelName } from '#providers/channels/index'
import { splitText } from '#providers/channels/text'
import type { CredentialBox } from './credentials.ts'
import * as inboxStore from './inbox-store.ts'
import * as outboxStore from './outbox-store.ts'
import * as store from './store.ts'

// Answers are rows. They are written in the transaction that creates the message, and sent afterwards at least once: if
// the process crashes between the vendor's response and its record, the message is sent again. Conversations keep their
// order.

const LEASE_S = 30
const MAX_ATTEMPTS = 10
const LOOKS_AGAIN_S = 10 * 60
const MAX_WAIT_S = 15 * 60

export type Queued = {
  workspaceId: string
  config: { config_id: string; channel: ChannelName; external_id: string }
  /** Messages of one lane keep their order. */
  lane: string
  /** A message with the same key is queued once. */
  key: string
  address: Address
  text: string
}

export function makeOutbox(options: { db: Database; log: Logger; channels: Channels; box: CredentialBox }) {
  const { db, log, channels, box } = options
  const stopping = new AbortController()

  /** Queues a message in parts that the vendor accepts. Does nothing if the channel cannot send. */
  async function queue(tx: Tx, { workspaceId, config, lane, key, address, text }: Queued): Promise<void> {
    const channel = channels[config.channel]
    if (!channel.sends(config)) return
    for (const [part, partText] of splitText(text, channel.mostCharacters).entries())
      await outboxStore.insertSend(tx, workspaceId, {
        send_id: newId(),
        config_id: config.config_id,
        lane,
        dedupe_key: `${key}:${part}`,
        address,
        text: partText,
      })
    tx.hint(outboxStore.CHANNEL_HINTS, '')
  }

  /** Sends what the assistant says outside a turn to the address of the conversation's last message. */
  async function onPosted(tx: Tx, { thread, message }: Posted): Promise<void> {
    if (thread.kind !== 'channel') return
    const found = await inboxStore.findAddress(tx, thread.workspace_id, thread.thread_id)
    if (!found) return
    await queue(tx, {
      workspaceId: thread.workspace_id,
      config: found,
      lane: thread.thread_id,
      key: message.message_id,
      address: found.address,
      text: message.text,
    })
  }

  /** Sends one message. Returns false if another process has it. */
  async function sendOne({ workspace_id, send_id }: { workspace_id: string; send_id: string }): Promise<boolean> {
    const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
      db.tenant({ workspaceId: workspace_id, userId: null }, work)
    const taken = await inScope(async (tx) => {
      const send = await outboxStore.takeSend(tx, workspace_id, send_id, LEASE_S)
      const config = send && (await store.findUsable(tx, workspace_id, send.config_id))
      return send && config && { send, config }
    })
    if (!taken) return false
    const { send, config } = taken
    const park = (reason: string): Promise<unknown> => {
      log.warn({ config_id: config.config_id, channel: config.channel, reason }, 'a message was not delivered')
      return inScope(async (tx) => {
        if ((await outboxStore.settleSend(tx, workspace_id, send_id, { state: 'parked', problem: reason })) > 0)
          await store.noteProblem(tx, workspace_id, config.config_id, reason)
      })
    }
    // While the channel is disabled, messages wait until it is enabled. That may happen at this moment.
    if (!config.enabled) {
      if (send.old) await park('the channel is disabled')
      else
        await inScope(async (tx) => {
          const isOn = (await store.holdUsable(tx, workspace_id, config.config_id))?.enabled === true
          await outboxStore.slowDown(tx, workspace_id, send, isOn ? 0 : LOOKS_AGAIN_S)
        })
      return true
    }
    try {
      await channels[config.channel].send(
        { external_id: config.external_id, credentials: box.open(config) },
        {
          address: send.address,
          text: send.text,
          key: send.dedupe_key,
          reportId: send_id,
          ...(send.attempts > 1 && { triedSince: send.created_at }),
          workspaceId: workspace_id,
          signal: AbortSignal.any([stopping.signal, AbortSignal.timeout((LEASE_S - 10) * SECOND)]),
        },
      )
      await inScope(async (tx) => {
        if ((await outboxStore.settleSend(tx, workspace_id, send_id, { state: 'sent' })) > 0)
          await store.noteProblem(tx, workspace_id, config.config_id, null)
      })
    } catch (error) {
      if (stopping.signal.aborted) {
        await inScope((tx) => outboxStore.delaySend(tx, workspace_id, send_id, 0, 'the program stopped'))
        return false
      }
      if (!(error instanceof ChannelFailure)) log.warn({ err: error }, 'a message could not be sent')
      const failure =
        error instanceof ChannelFailure ? error : new ChannelFailure('unavailable', 'it could not be sent')
      if (!failure.retryable || send.old) await park(failure.message)
      else if (failure.code === 'rate_limited')
        await inScope(async (tx) => {
          await outboxStore.slowDown(tx, workspace_id, send, failure.retryAfterS ?? 1)
          await store.noteProblem(tx, workspace_id, config.config_id, failure.message)
        })
      else if (send.attempts >= MAX_ATTEMPTS) await park(failure.message)
      else
        await inScope((tx) =>
          outboxStore.delaySend(tx, workspace_id, send_id, Math.min(2 ** send.attempts, MAX_WAIT_S), failure.message),
        )
    }
    return true
  }

  return {
    queue,
    onPosted,
    sendOne,
    findDue: async (most: number, full: string[]): Promise<{ workspace_id: string; send_id: string }[]> =>
      (await db.appPool.query('select * from due_channel_sends($1, $2)', [most, full])).rows,
    stop: (): void => stopping.abort(),
  }
}

export type Outbox = ReturnType<typeof makeOutbox>
