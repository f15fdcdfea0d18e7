import { z } from 'zod'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { retryAfterS } from '#platform/outgoing/retry-after'
import { rateLimited } from './call.ts'
import { type Channel, ChannelFailure, InboundMalformed, json, MAX_ATTACHMENTS, SignatureRefused } from './index.ts'
import { equalInConstantTime, headerOf, hmac, requireFresh, secretOf } from './signature.ts'
import { InlineFile, inlineFile, Locale, localeField, readJson, storable } from './text.ts'

// A channel for any system that signs requests according to https://www.standardwebhooks.com. The external id is the
// address to which replies are sent, signed with the same secret. If the external id is not an address, no replies are
// sent, and the answers are only in the thread.

const Message = z.object({
  sender_id: z.string().min(1).max(200),
  sender_name: z.string().max(200).optional(),
  conversation_id: z.string().min(1).max(200).optional(),
  locale: Locale,
  text: z.string(),
  files: z.array(InlineFile).max(MAX_ATTACHMENTS).optional(),
})

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text)

export const makeWebhook = ({ outgoing }: { outgoing: Pick<Outgoing, 'request'> }): Channel => ({
  name: 'webhook',
  title: 'Webhook',
  credentials: ['signing_secret'],
  mostCharacters: 100_000,
  checkExternalId: (externalId) => {
    if (!isAddress(externalId)) return null
    if (!URL.canParse(externalId)) return 'must be an address, or a name that you choose'
    const { username, password } = new URL(externalId)
    return username !== '' || password !== '' ? 'must not contain a password; replies are signed instead' : null
  },

  async receive({ headers, body, now }, { credentials }) {
    const keys = keysOf(secretOf(credentials, 'signing_secret'))
    const id = headerOf(headers, 'webhook-id')
    const at = headerOf(headers, 'webhook-timestamp')
    const given = headerOf(headers, 'webhook-signature').split(' ').slice(0, 8)
    const expected = keys.map((key) => `v1,${hmac(key, `${id}.${at}.`, body).toString('base64')}`)
    if (!given.some((one) => expected.some((right) => equalInConstantTime(one, right))))
      throw new SignatureRefused('the signature is wrong')
    requireFresh(at, now)
    const message = readJson(body, Message)
    if (!message) throw new InboundMalformed('Send {"sender_id": "…", "text": "…"}, and "conversation_id" if you like.')
    const { sender_id, sender_name, conversation_id, locale, text, files = [] } = message
    return {
      answer: json({ received: true }),
      messages: [
        {
          deliveryId: id.slice(0, 500),
          conversation: JSON.stringify([conversation_id ?? null, sender_id]),
          sender: {
            id: storable(sender_id, 200),
            name: storable(sender_name ?? sender_id, 200),
            ...localeField(locale),
          },
          text: storable(text),
          files: files.map(inlineFile),
          address: { sender_id, ...(conversation_id !== undefined && { conversation_id }) },
        },
      ],
    }
  },

  addressOf: (to) => (to !== '' && to.length <= 200 ? { sender_id: to } : undefined),
  sends: ({ external_id }) => isAddress(external_id),

  async send({ external_id, credentials }, { address, text, key, signal }) {
    const [secret] = keysOf(credentials.signing_secret ?? '')
    if (secret === undefined) throw new ChannelFailure('refused', 'No signing secret is stored.')
    const at = String(Math.floor(Date.now() / 1000))
    const body = JSON.stringify({ type: 'message', id: key, ...address, text })
    let status: number
    let headers: Record<string, string>
    try {
      ;({ status, headers } = await outgoing.request({
        method: 'POST',
        url: external_id,
        headers: {
          'content-type': 'application/json',
          'webhook-id': key,
          'webhook-timestamp': at,
          'webhook-signature': `v1,${hmac(secret, `${key}.${at}.${body}`).toString('base64')}`,
        },
        body,
        timeoutMs: 15_000,
        maxBytes: 256 * 1024,
        ...(signal && { signal }),
      }))
    } catch (error) {
      if (!(error instanceof OutgoingFailure)) throw error
      throw new ChannelFailure(error.retryable ? 'unavailable' : 'refused', error.message)
    }
    if (status === 429)
      throw rateLimited('The receiver', Math.max(1, retryAfterS(headers['retry-after'], headers.date) ?? 1))
    if (status >= 500) throw new ChannelFailure('unavailable', `The receiver answered with status ${status}`)
    if (status >= 300) throw new ChannelFailure('refused', `The receiver answered with status ${status}`)
  },
})

/**
 * Returns the possible keys of a secret: decoded base64 after `whsec_`, as in the standard; otherwise the text itself
 * and, if it is valid base64, its decoded bytes.
 */
function keysOf(secret: string): Buffer[] {
  if (secret.startsWith('whsec_')) return [Buffer.from(secret.slice('whsec_'.length), 'base64')].filter(hasBytes)
  const decoded = /^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret) ? [Buffer.from(secret, 'base64')] : []
  return [Buffer.from(secret), ...decoded].filter(hasBytes)
}

const hasBytes = (key: Buffer): boolean => key.length > 0
