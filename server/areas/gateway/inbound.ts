import { createHash } from 'node:crypto'
import type { People } from '#areas/reaching/people'
import type { FileValue } from '#engine/files'
import { isStorableText } from '#model/storable'
import type { Database } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { checkLength, discardRest, readWhole } from '#platform/http/upload'
import { newId } from '#platform/ids'
import type { Channels } from '#providers/channels/channels'
import {
  type Attachment,
  type Channel,
  type InboundAnswer,
  InboundMalformed,
  type InboundMessage,
  MAX_ATTACHMENTS,
  SignatureRefused,
  type Undelivered,
} from '#providers/channels/index'
import { storable } from '#providers/channels/text'
import type { CredentialBox } from './credentials.ts'
import * as inboxStore from './inbox-store.ts'
import * as outboxStore from './outbox-store.ts'
import * as store from './store.ts'

export type KeepFile = (
  workspaceId: string,
  file: { name: string; media_type: string; sender_id: string | null; key?: string },
  chunks: AsyncIterable<Buffer>,
) => Promise<FileValue>

/**
 * The number of large messages of a workspace read at once. Each has at most 25 MiB, plus its decoded attachments, and
 * may arrive slowly.
 */
const MAX_LARGE_AT_ONCE = 2

function makeSlots(size: number) {
  const taken = new Map<string, number>()
  const takenBy = (workspaceId: string): number => taken.get(workspaceId) ?? 0
  return {
    take(workspaceId: string): boolean {
      if (takenBy(workspaceId) >= size) return false
      taken.set(workspaceId, takenBy(workspaceId) + 1)
      return true
    },
    giveBack(workspaceId: string): void {
      const left = takenBy(workspaceId) - 1
      if (left === 0) taken.delete(workspaceId)
      else taken.set(workspaceId, left)
    },
  }
}

type Called = { channel: string; config_id: string }

/** The addresses that vendors call. Only the path of a request determines its config. */
export function makeInbound(options: {
  db: Database
  channels: Channels
  box: CredentialBox
  maxBytes: number
  keepFile: KeepFile
  /** Handles links and button presses of the workspace's own people. */
  people: People
}) {
  const { db, channels, box, maxBytes, keepFile, people } = options
  const large = makeSlots(MAX_LARGE_AT_ONCE)

  async function find({ channel, config_id }: Called): Promise<{ config: store.UsableConfig; vendor: Channel }> {
    const vendor = Object.hasOwn(channels, channel) ? channels[channel as keyof Channels] : undefined
    if (!vendor) throw problem('not_found')
    const { rows } = await db.appPool.query<store.UsableConfig>('select * from gateway_channel_of($1, $2)', [
      config_id,
      vendor.name,
    ])
    if (!rows[0]) throw problem('not_found')
    return { config: rows[0], vendor }
  }

  const usableOf = (config: store.UsableConfig) => ({
    external_id: config.external_id,
    credentials: box.open(config),
  })

  /** Stores messages before the vendor gets its response. A repeated delivery is recognised by its id. */
  const keep = async (config: store.UsableConfig, messages: InboundMessage[]): Promise<void> => {
    const kept = await Promise.all(messages.map(({ files = [] }) => keepAttachments(config.workspace_id, files)))
    await db.tenant({ workspaceId: config.workspace_id, userId: null }, async (tx) => {
      for (const [at, { deliveryId, files: _files, ...message }] of messages.entries())
        await inboxStore.insertDelivery(tx, config.workspace_id, {
          ...message,
          files: kept[at]!,
          receipt_id: newId(),
          config_id: config.config_id,
          delivery_sha256: createHash('sha256').update(`${config.config_id}\n${deliveryId}`).digest(),
        })
      tx.hint(outboxStore.CHANNEL_HINTS, '')
    })
  }

  /** Stores attached files at once. Files that the vendor stores are fetched when the message is answered. */
  async function keepAttachments(workspaceId: string, files: Attachment[]): Promise<inboxStore.DeliveredFile[]> {
    const kept: inboxStore.DeliveredFile[] = []
    for (const file of files.slice(0, MAX_ATTACHMENTS)) {
      const { name, mediaType: media_type } = { ...file, name: storable(file.name, 200) || 'file' }
      if ('ref' in file) kept.push({ name, media_type, ref: file.ref })
      else
        try {
          const value = await keepFile(workspaceId, { name, media_type, sender_id: null }, file.content())
          kept.push(value)
        } catch (error) {
          if (!isProblem(error, 'quota_exceeded') && !isProblem(error, 'too_large')) throw error
          kept.push({ name, media_type, refused: true })
        }
    }
    return kept
  }

  /**
   * Only a sender whose headers prove its identity may send more than a JSON message, and only a few at once, because
   * the whole body is in memory.
   */
  async function readBody(vendor: Channel, config: store.UsableConfig, { request }: Exchange): Promise<Buffer> {
    const most = vendor.maxBodyBytes?.({ headers: request.headers }, usableOf(config)) ?? maxBytes
    const expected = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
    const isLarge = most > maxBytes && expected > maxBytes
    if (isLarge && !large.take(config.workspace_id))
      throw problem('overloaded', 'Several large messages are being read; send it again.')
    try {
      checkLength(request, most)
      return await readWhole(request, most)
    } finally {
      if (isLarge) large.giveBack(config.workspace_id)
    }
  }

  async function refusing<T>(ctx: Context, config: store.UsableConfig, work: () => Promise<T> | T): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof InboundMalformed) throw problem('malformed', error.message)
      if (!(error instanceof SignatureRefused)) throw error
      ctx.log.info({ config_id: config.config_id, reason: error.message }, 'a call of a channel was refused')
      throw problem('bad_signature', 'Check the credentials of the channel and the clock of the sender.')
    }
  }

  return {
    async receive(ctx: Context, input: Called, exchange: Exchange): Promise<void> {
      try {
        await receive(ctx, input, exchange)
      } catch (error) {
        discardRest(exchange)
        throw error
      }
    },

    async handshake(ctx: Context, input: Called & Record<string, unknown>, { reply }: Exchange): Promise<void> {
      const { config, vendor } = await find(input)
      const query = Object.fromEntries(
        Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
      const answer = await refusing(ctx, config, () => {
        if (!vendor.handshake) throw new SignatureRefused('this vendor sends no verification requests')
        return vendor.handshake(query, usableOf(config))
      })
      send(reply, answer)
    },
  }

  async function receive(ctx: Context, input: Called, exchange: Exchange): Promise<void> {
    const { request, reply } = exchange
    const { config, vendor } = await find(input)
    const {
      answer,
      messages,
      press,
      undelivered = [],
    } = await refusing(ctx, config, async () => {
      const body = await readBody(vendor, config, exchange)
      return vendor.receive({ headers: request.headers, body, now: new Date() }, usableOf(config))
    })
    if (messages.length > 0 || press) {
      if (!messages.every(isStorable))
        throw problem('malformed', 'An id or a name contains characters that are not valid text.')
      if (!config.enabled || config.template_id === null)
        throw problem('channel_disabled', 'Enable the channel, and give it a template, to receive messages.')
    }
    const at = { workspaceId: config.workspace_id, config }
    if (press && vendor.buttons) {
      const { text, isTaken } = await people.press(at, press)
      if (!isTaken)
        await vendor.buttons
          .refuse?.(press, text)
          .catch((error: unknown) =>
            ctx.log.info({ err: error, channel: vendor.name }, 'a refusal could not be reported to the sender'),
          )
      return send(reply, vendor.buttons.answer(press, text))
    }
    for (const message of messages.filter(people.isLink)) await people.link(at, message)
    const said = messages.filter((message) => !people.isLink(message))
    if (said.length > 0) await keep(config, said)
    if (undelivered.length > 0) await fail(db, ctx, config, undelivered)
    send(reply, answer)
  }
}

export type Inbound = ReturnType<typeof makeInbound>

/**
 * Marks messages that the vendor accepted and later could not deliver, as if it had refused them at once. Locks the
 * channel after the messages, as the sending of a message does.
 */
const fail = (db: Database, ctx: Context, config: store.UsableConfig, undelivered: Undelivered[]): Promise<void> =>
  db.tenant({ workspaceId: config.workspace_id, userId: null }, async (tx) => {
    const { workspace_id, config_id, channel } = config
    let latest: string | undefined
    for (const one of undelivered) {
      if ((await outboxStore.failSend(tx, workspace_id, config_id, one)) === 0) continue
      ctx.log.warn({ config_id, channel, reason: one.reason }, 'a message was not delivered')
      latest = one.reason
    }
    if (latest !== undefined) await store.noteProblem(tx, workspace_id, config_id, latest)
  })

/** Checks the fields other than the text, which has already been cleaned. */
const isStorable = ({ conversation, sender, address }: InboundMessage): boolean =>
  [conversation, sender.id, sender.name, ...Object.values(address)].every(
    (text) => text === undefined || isStorableText(text),
  )

/** The response to a vendor can contain user input, so it must never be shown as a page. */
const send = (reply: Exchange['reply'], { contentType, body }: InboundAnswer): void => {
  reply.headers({ 'content-type': `${contentType}; charset=utf-8`, 'cache-control': 'no-store' }).send(body)
}
