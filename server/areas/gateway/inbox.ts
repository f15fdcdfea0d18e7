import { type Phrases, phrasesIn } from '#areas/conversations/languages/index'
import type { Conversations, Message, Within } from '#areas/conversations/types'
import type { FileValue } from '#engine/files'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { fromWire, toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Channels } from '#providers/channels/channels'
import { ChannelFailure } from '#providers/channels/index'
import { MAX_TEXT_LENGTH, wasCut } from '#providers/channels/text'
import type { CredentialBox } from './credentials.ts'
import type { KeepFile } from './inbound.ts'
import * as inboxStore from './inbox-store.ts'
import type { Outbox } from './outbox.ts'
import * as store from './store.ts'

// Processes messages after the vendor was told that they arrived. Each delivery becomes exactly one turn of its
// conversation, regardless of retries: the turn stores the id of the delivery, and its answers are queued under their
// message ids.

const NO_FILES = { files: [], missed: [] }
type Fetched = { files: FileValue[]; missed: string[] }

/** If the process crashes during a turn, the person waits at most this time. */
const LEASE_S = 15
const MAX_ATTEMPTS = 5

export type InboxOptions = {
  db: Database
  log: Logger
  channels: Channels
  box: CredentialBox
  conversations: Conversations
  outbox: Outbox
  keepFile: KeepFile
  /** Assigns files that came with a message to its conversation. */
  adoptFiles(tx: Tx, workspaceId: string, fileIds: string[], senderId: string): Promise<unknown>
}

type Said = Pick<Message, 'message_id' | 'text'>

const phrasesOf = ({ sender }: inboxStore.Delivery, { locale }: store.WithLanguage): Phrases =>
  phrasesIn(sender.locale ?? locale ?? undefined)

/** Returns notes for the person about content that could not be read. */
function notesOn({ receipt_id, text, files }: inboxStore.Delivery, missed: string[], say: Phrases): Said[] {
  const length = MAX_TEXT_LENGTH.toLocaleString(say.locale)
  return [
    ...(text === '' && files.length === 0 ? [{ message_id: receipt_id, text: say.onlyText }] : []),
    ...(wasCut(text) ? [{ message_id: `${receipt_id}:cut`, text: say.tooLong(length) }] : []),
    ...(missed.length > 0
      ? [{ message_id: `${receipt_id}:files`, text: say.notRead(missed.join(', ').slice(0, 500)) }]
      : []),
  ]
}

export function makeInbox(options: InboxOptions) {
  const { db, log, conversations, outbox } = options
  const stopping = new AbortController()

  async function answer(
    workspaceId: string,
    config: store.UsableConfig & store.WithLanguage,
    delivery: inboxStore.Delivery,
  ): Promise<void> {
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
    const take = async (threadId: string, { files, missed }: Fetched, within?: Within): Promise<Said[]> => {
      const notes = notesOn(delivery, missed, phrasesOf(delivery, config))
      if (delivery.text === '' && files.length === 0) return notes
      const { messages } = await conversations.takeMessage({
        workspaceId,
        threadId,
        ...(within && { within }),
        author: { kind: 'external', id: sender.id, name: sender.name },
        origin: { kind: 'channel', id: toWire('chan', config.config_id) },
        text: delivery.text,
        ...(files.length > 0 && { files }),
        requestKey: delivery.delivery_sha256,
        ...(sender.locale !== undefined && { visit: { locale: sender.locale } }),
        signal: stopping.signal,
      })
      return [...notes, ...messages]
    }
    const settle = async (tx: Tx, threadId: string, said: Said[]): Promise<void> => {
      for (const { message_id, text } of said)
        await outbox.queue(tx, { workspaceId, config, lane: threadId, key: message_id, address, text })
      await inboxStore.settleDelivery(tx, workspaceId, delivery.receipt_id, 'taken')
    }
    if (!conversations.answersAtOnce() || delivery.files.length > 0) {
      const threadId = await inScope(open)
      const said = await take(threadId, await fetchFiles(workspaceId, config, delivery, threadId))
      return inScope((tx) => settle(tx, threadId, said))
    }
    const done: (() => void)[] = []
    await inScope(async (tx) => {
      const threadId = await open(tx)
      await settle(tx, threadId, await take(threadId, NO_FILES, { tx, afterCommit: (work) => done.push(work) }))
    })
    for (const work of done) work()
  }

  /** Fetches files from the vendor. A timeout throws, for a retry; the person is told about files the vendor refuses. */
  async function fetchFiles(
    workspaceId: string,
    config: store.UsableConfig,
    { files: delivered, receipt_id }: inboxStore.Delivery,
    threadId: string,
  ): Promise<Fetched> {
    const vendor = options.channels[config.channel]
    const files: FileValue[] = []
    const missed: string[] = []
    for (const [at, one] of delivered.entries()) {
      if ('$file' in one) files.push(one)
      else if ('refused' in one || !vendor.fetchFile) missed.push(one.name)
      else
        try {
          const usable = { external_id: config.external_id, credentials: options.box.open(config) }
          const chunks = await vendor.fetchFile(usable, one.ref, stopping.signal)
          const { name, media_type } = one
          // The key is the same in every attempt, so retries store one file.
          const key = `channel\n${receipt_id}\n${at}`
          files.push(await options.keepFile(workspaceId, { key, name, media_type, sender_id: threadId }, chunks))
        } catch (error) {
          const isRefused =
            (error instanceof ChannelFailure && error.code === 'refused') ||
            isProblem(error, 'quota_exceeded') ||
            isProblem(error, 'too_large')
          if (!isRefused) throw error
          log.info(
            { config_id: config.config_id, reason: (error as Error).message },
            'a file of a channel was not read',
          )
          missed.push(one.name)
        }
    }
    const ids = files.flatMap(({ $file }) => fromWire('file', $file.file_id) ?? [])
    if (ids.length > 0)
      await db.tenant({ workspaceId, userId: null }, (tx) => options.adoptFiles(tx, workspaceId, ids, threadId))
    return { files, missed }
  }

  /** Answers one delivery. Returns false if another process has it. */
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
        const text = phrasesOf(delivery, config).couldNotRead
        await outbox.queue(tx, { workspaceId, config, lane, key: receipt_id, address, text })
        return inboxStore.settleDelivery(tx, workspaceId, receipt_id, 'parked')
      })
    } finally {
      clearInterval(renewal)
    }
    return true
  }

  return {
    takeOne,
    findDue: async (most: number, full: string[]): Promise<{ workspace_id: string; receipt_id: string }[]> =>
      (await db.appPool.query('select * from due_channel_deliveries($1, $2)', [most, full])).rows,
    stop: (): void => stopping.abort(),
  }
}
