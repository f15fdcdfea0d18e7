import { z } from 'zod'
import { callVendor, fetchVendorFile, hostOf, rateLimited } from './call.ts'
import {
  type Channel,
  ChannelFailure,
  type InboundMessage,
  json,
  plain,
  SignatureRefused,
  type Undelivered,
} from './index.ts'
import { equalInConstantTime, headerOf, hmac, secretOf } from './signature.ts'
import { readJson, storable } from './text.ts'

const Media = z
  .object({
    id: z.string().max(200),
    mime_type: z.string().optional(),
    filename: z.string().optional(),
    caption: z.string().optional(),
  })
  .optional()
  .catch(undefined)

const Message = z.object({
  document: Media,
  image: Media,
  audio: Media,
  video: Media,
  from: z.string().max(100),
  id: z.string().max(500),
  type: z.string(),
  text: z.object({ body: z.string() }).optional(),
  button: z.object({ text: z.string() }).optional(),
  interactive: z
    .object({
      button_reply: z.object({ title: z.string() }).optional(),
      list_reply: z.object({ title: z.string() }).optional(),
    })
    .optional(),
})

const Value = z.object({
  metadata: z.object({ phone_number_id: z.string() }),
  contacts: z
    .array(z.object({ wa_id: z.string().optional(), profile: z.object({ name: z.string() }).optional() }))
    .optional(),
  messages: z.array(z.unknown()).optional(),
  statuses: z.array(z.unknown()).optional().catch(undefined),
})

/** A report about one of our messages. Reports of other programs with the same number have other data or none. */
const FailedStatus = z.object({
  status: z.literal('failed'),
  biz_opaque_callback_data: z.uuid(),
  errors: z
    .array(
      z.object({
        code: z.number().optional(),
        title: z.string().optional(),
        error_data: z.object({ details: z.string().optional() }).optional(),
      }),
    )
    .optional()
    .catch(undefined),
})

const Notification = z.object({
  object: z.literal('whatsapp_business_account'),
  entry: z.array(z.object({ changes: z.array(z.object({ field: z.string(), value: z.unknown() })) })),
})

const VERSION = 'v23.0'

/** Error codes for too many messages: of the app, of the business or to this person. */
const RATE_CODES = new Set([4, 80007, 130429, 131048, 131056])

export const makeWhatsapp = ({ base }: { base: string }): Channel => ({
  name: 'whatsapp',
  title: 'WhatsApp',
  credentials: ['access_token', 'app_secret', 'verify_token'],
  mostCharacters: 4096,
  checkExternalId: (externalId) =>
    /^\d{3,30}$/.test(externalId) ? null : 'must be the phone number id: digits, as Meta shows it beside the number',

  handshake(query, { credentials }) {
    const expected = secretOf(credentials, 'verify_token')
    if (query['hub.mode'] !== 'subscribe' || !equalInConstantTime(query['hub.verify_token'], expected))
      throw new SignatureRefused('the verify token is wrong')
    return plain(query['hub.challenge'] ?? '')
  },

  async receive({ headers, body }, { credentials, external_id }) {
    const secret = secretOf(credentials, 'app_secret')
    const expected = `sha256=${hmac(secret, body).toString('hex')}`
    if (!equalInConstantTime(headerOf(headers, 'x-hub-signature-256'), expected))
      throw new SignatureRefused('the signature is wrong')
    const changes = readJson(body, Notification)?.entry.flatMap((entry) => entry.changes) ?? []
    const values = changes.flatMap(({ field, value }) => {
      const read = Value.safeParse(value)
      // All phone numbers of an app share one address; messages to other numbers do not belong to this configuration.
      return field === 'messages' && read.success && read.data.metadata.phone_number_id === external_id
        ? [read.data]
        : []
    })
    return {
      answer: json({ ok: true }),
      messages: values.flatMap(messagesOf),
      undelivered: values.flatMap(undeliveredIn),
    }
  },

  async fetchFile({ credentials }, ref, signal) {
    const headers = { authorization: `Bearer ${credentials.access_token}` }
    const url = `${base}/${VERSION}/${encodeURIComponent(ref)}`
    const { status, body } = await callVendor({ vendor: 'WhatsApp', url, headers, signal })
    if (status !== 200 || typeof body.url !== 'string')
      throw new ChannelFailure('refused', `WhatsApp did not give the file (status ${status})`)
    const hosts = [/(^|\.)(fbsbx\.com|whatsapp\.net|facebook\.com)$/, hostOf(base)]
    return fetchVendorFile({ vendor: 'WhatsApp', url: body.url, hosts, headers, signal })
  },

  addressOf: (to) => {
    const digits = to.replaceAll(/[\s()+-]/g, '')
    return /^\d{5,20}$/.test(digits) ? { to: digits } : undefined
  },
  sends: () => true,

  async send({ credentials, external_id }, { address, text, reportId, signal }) {
    const { status, body } = await callVendor({
      vendor: 'WhatsApp',
      url: `${base}/${VERSION}/${encodeURIComponent(external_id)}/messages`,
      headers: { authorization: `Bearer ${credentials.access_token}` },
      body: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: address.to,
        type: 'text',
        text: { preview_url: false, body: text },
        ...(reportId !== undefined && { biz_opaque_callback_data: reportId }),
      },
      signal,
    })
    if (status < 300) return
    const { code } = (body.error ?? {}) as { code?: unknown }
    if (RATE_CODES.has(Number(code))) throw rateLimited('WhatsApp', 10)
    throw new ChannelFailure('refused', `WhatsApp refused the message (status ${status}, code ${Number(code) || 0})`)
  },
})

/** WhatsApp accepts most messages at first, also those to people who have not written for 24 hours. */
const undeliveredIn = ({ statuses = [] }: z.output<typeof Value>): Undelivered[] =>
  statuses.flatMap((one) => {
    const read = FailedStatus.safeParse(one)
    if (!read.success) return []
    const { biz_opaque_callback_data: reportId, errors: [error] = [] } = read.data
    const why = storable(error?.error_data?.details ?? error?.title ?? '', 300) || 'no reason given'
    return [{ reportId, reason: `WhatsApp did not deliver the message (code ${error?.code ?? 0}): ${why}` }]
  })

const SILENT = new Set(['reaction', 'system', 'unsupported', 'unknown', 'ephemeral'])

function messagesOf({ contacts = [], messages = [] }: z.output<typeof Value>): InboundMessage[] {
  return messages.flatMap((one) => {
    const read = Message.safeParse(one)
    if (!read.success || SILENT.has(read.data.type)) return []
    const { from, id, text, button, interactive } = read.data
    const { document, image, audio, video } = read.data
    const media = [document, image, audio, video].filter((one) => one !== undefined)
    const said =
      text?.body ??
      button?.text ??
      interactive?.button_reply?.title ??
      interactive?.list_reply?.title ??
      media.find(({ caption }) => caption !== undefined)?.caption ??
      ''
    const name = contacts.find((contact) => contact.wa_id === from)?.profile?.name
    return [
      {
        deliveryId: id,
        conversation: from,
        sender: { id: from, name: storable(name ?? '', 200) || from },
        text: storable(said),
        files: media.map(({ id: ref, mime_type = '', filename }) => ({
          ref,
          name: filename ?? `file.${/^\w+\/(\w{1,10})/.exec(mime_type)?.[1] ?? 'bin'}`,
          mediaType: mime_type,
        })),
        address: { to: from },
      },
    ]
  })
}
