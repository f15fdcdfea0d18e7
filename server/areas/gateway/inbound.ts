import { createHash } from 'node:crypto'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { newId } from '#platform/ids'
import type { Channels } from '#providers/channels/channels'
import {
  type Channel,
  type InboundAnswer,
  InboundMalformed,
  type InboundMessage,
  SignatureRefused,
} from '#providers/channels/index'
import type { CredentialBox } from './credentials.ts'
import * as inboxStore from './inbox-store.ts'
import { CHANNEL_HINTS } from './outbox-store.ts'
import type * as store from './store.ts'

type Called = { channel: string; config_id: string }

/** The addresses that vendors call. Nothing in a request but its path says which config it is for. */
export function makeInbound(options: { db: Database; channels: Channels; box: CredentialBox }) {
  const { db, channels, box } = options

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

  /** Kept before the vendor hears that it arrived; a repetition is known by its id. */
  const keep = (config: store.UsableConfig, messages: InboundMessage[]): Promise<void> =>
    db.tenant({ workspaceId: config.workspace_id, userId: null }, async (tx) => {
      for (const { deliveryId, ...message } of messages)
        await inboxStore.insertDelivery(tx, config.workspace_id, {
          ...message,
          receipt_id: newId(),
          config_id: config.config_id,
          delivery_sha256: createHash('sha256').update(`${config.config_id}\n${deliveryId}`).digest(),
        })
      tx.hint(CHANNEL_HINTS, '')
    })

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
    async receive(ctx: Context, input: Called & { body: Buffer }, { request, reply }: Exchange): Promise<void> {
      const { config, vendor } = await find(input)
      const { answer, messages } = await refusing(ctx, config, () =>
        vendor.receive({ headers: request.headers, body: input.body, now: new Date() }, usableOf(config)),
      )
      if (messages.length > 0) {
        if (!messages.every(isStorable))
          throw problem('malformed', 'An id or a name holds characters that are no text.')
        if (!config.enabled || config.template_id === null)
          throw problem('channel_disabled', 'Enable the channel, and give it a template, to receive messages.')
        await keep(config, messages)
      }
      send(reply, answer)
    },

    async handshake(ctx: Context, input: Called & Record<string, unknown>, { reply }: Exchange): Promise<void> {
      const { config, vendor } = await find(input)
      const query = Object.fromEntries(
        Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
      const answer = await refusing(ctx, config, () => {
        if (!vendor.handshake) throw new SignatureRefused('this vendor asks nothing')
        return vendor.handshake(query, usableOf(config))
      })
      send(reply, answer)
    },
  }
}

export type Inbound = ReturnType<typeof makeInbound>

/** What stands beside the text; the text itself has been mended. */
const isStorable = ({ conversation, sender, address }: InboundMessage): boolean =>
  [conversation, sender.id, sender.name, ...Object.values(address)].every(
    (text) => text === undefined || (text.isWellFormed() && !text.includes('\0')),
  )

/** What a vendor gets back can hold what somebody wrote; it is never shown as a page. */
const send = (reply: Exchange['reply'], { contentType, body }: InboundAnswer): void => {
  reply.headers({ 'content-type': `${contentType}; charset=utf-8`, 'cache-control': 'no-store' }).send(body)
}
