import type { Conversations, Message, Within } from '#areas/conversations/types'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { MAX_TEXT_LENGTH, wasCut } from '#providers/channels/text'
import * as inboxStore from './inbox-store.ts'
import type { Outbox } from './outbox.ts'
import * as store from './store.ts'

// What people wrote, after the vendor was told that it arrived. Each delivery becomes one turn of its conversation, however
// often it is tried: the turn remembers the delivery, and its answers are queued under the ids of their messages.

/** A program that dies in the middle of a turn keeps the person waiting no longer than this. */
const LEASE_S = 15
const MAX_ATTEMPTS = 5

const ONLY_TEXT = 'I can only read text. Please write it to me.'
const TOO_LONG = `Your message was very long: I have read its first ${MAX_TEXT_LENGTH.toLocaleString('en')} characters. Please send the rest as another one.`
const SORRY = 'Sorry, something went wrong and I could not read your last message. Please try again later.'

export function makeInbox(options: { db: Database; log: Logger; conversations: Conversations; outbox: Outbox }) {
  const { db, log, conversations, outbox } = options
  const stopping = new AbortController()

  async function answer(workspaceId: string, config: store.UsableConfig, delivery: inboxStore.Delivery): Promise<void> {
    const { conversation, sender, address } = delivery
    const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
    const open = async (tx: Tx): Promise<string> => {
      const { thread_id } = await conversations.openThread(tx, {
        workspaceId,
        kind: 'channel',
        templateId: config.template_id!,
        configId: config.config_id,
        externalId: conversation,
        title: sender.name,
      })
      await inboxStore.saveAddress(tx, workspaceId, thread_id, config.config_id, address)
      return thread_id
    }
    const take = async (threadId: string, within?: Within): Promise<Pick<Message, 'message_id' | 'text'>[]> => {
      if (delivery.text === '') return [{ message_id: delivery.receipt_id, text: ONLY_TEXT }]
      const { messages } = await conversations.takeMessage({
        workspaceId,
        threadId,
        ...(within && { within }),
        author: { kind: 'external', id: sender.id, name: sender.name },
        origin: { kind: 'channel', id: toWire('chan', config.config_id) },
        text: delivery.text,
        requestKey: delivery.delivery_sha256,
        signal: stopping.signal,
      })
      const note = { message_id: `${delivery.receipt_id}:cut`, text: TOO_LONG }
      return wasCut(delivery.text) ? [note, ...messages] : messages
    }
    const settle = async (tx: Tx, threadId: string, said: Pick<Message, 'message_id' | 'text'>[]): Promise<void> => {
      for (const { message_id, text } of said)
        await outbox.queue(tx, { workspaceId, config, lane: threadId, key: message_id, address, text })
      await inboxStore.settleDelivery(tx, workspaceId, delivery.receipt_id, 'taken')
    }
    if (!conversations.answersAtOnce()) {
      const threadId = await inScope(open)
      const said = await take(threadId)
      return inScope((tx) => settle(tx, threadId, said))
    }
    const done: (() => void)[] = []
    await inScope(async (tx) => {
      const threadId = await open(tx)
      await settle(tx, threadId, await take(threadId, { tx, afterCommit: (work) => done.push(work) }))
    })
    for (const work of done) work()
  }

  /** False where somebody else has it. */
  async function takeOne(due: { workspace_id: string; receipt_id: string }): Promise<boolean> {
    const { workspace_id: workspaceId, receipt_id } = due
    const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
    const taken = await inScope(async (tx) => {
      const delivery = await inboxStore.takeDelivery(tx, workspaceId, receipt_id, LEASE_S)
      const config = delivery && (await store.findUsable(tx, workspaceId, delivery.config_id))
      return delivery && config && { delivery, config }
    })
    if (!taken) return false
    const { delivery, config } = taken
    if (!config.enabled) {
      await inScope((tx) => inboxStore.settleDelivery(tx, workspaceId, receipt_id, 'parked'))
      return true
    }
    // A model can take longer than a lease.
    const renewal = setInterval(
      () => void inScope((tx) => inboxStore.delayDelivery(tx, workspaceId, receipt_id, LEASE_S)).catch(() => {}),
      (LEASE_S / 3) * SECOND,
    )
    try {
      await answer(workspaceId, config, delivery)
    } catch (error) {
      if (stopping.signal.aborted) {
        await inScope((tx) => inboxStore.releaseDelivery(tx, workspaceId, receipt_id))
        return false
      }
      const last = delivery.attempts >= MAX_ATTEMPTS
      log.warn({ err: error, config_id: config.config_id, last }, 'a message of a channel could not be answered')
      await inScope(async (tx) => {
        if (!last) return inboxStore.delayDelivery(tx, workspaceId, receipt_id, 2 ** delivery.attempts)
        const lane = `sorry:${delivery.conversation}`
        const { address } = delivery
        await outbox.queue(tx, { workspaceId, config, lane, key: receipt_id, address, text: SORRY })
        return inboxStore.settleDelivery(tx, workspaceId, receipt_id, 'parked')
      })
    } finally {
      clearInterval(renewal)
    }
    return true
  }

  return {
    takeOne,
    findDue: async (most: number): Promise<{ workspace_id: string; receipt_id: string }[]> =>
      (await db.appPool.query('select * from due_channel_deliveries($1)', [most])).rows,
    stop: (): void => stopping.abort(),
  }
}
