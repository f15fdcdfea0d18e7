import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'
import { callVendor, fetchVendorFile, hostOf } from './call.ts'
import {
  BUTTON_PREFIX,
  type Channel,
  ChannelFailure,
  type InboundMessage,
  json,
  type Press,
  SignatureRefused,
} from './index.ts'
import { headerOf, requireFresh, secretOf } from './signature.ts'
import { Locale, localeField, readJson, storable } from './text.ts'

// Discord calls an address only for interactions (slash commands, buttons). It does not send ordinary channel messages.

const User = z.object({
  id: z.string().max(100),
  username: z.string().optional(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
})

type Option = { name: string; value?: unknown; options?: Option[] | undefined }
const Option: z.ZodType<Option> = z.lazy(() =>
  z.object({ name: z.string(), value: z.unknown().optional(), options: z.array(Option).optional() }),
)

const Interaction = z.object({
  id: z.string().max(100),
  type: z.number().int(),
  channel_id: z.string().max(100).optional(),
  locale: Locale,
  member: z.object({ user: User }).optional(),
  user: User.optional(),
  data: z
    .object({
      name: z.string().optional(),
      custom_id: z.string().max(200).optional(),
      options: z.array(Option).optional(),
      values: z.array(z.string()).optional(),
      resolved: z
        .object({
          attachments: z
            .record(
              z.string(),
              z.object({ url: z.string().max(2000), filename: z.string(), content_type: z.string().nullish() }),
            )
            .optional(),
        })
        .optional()
        .catch(undefined),
    })
    .optional(),
})

const PING = 1
const COMMAND = 2
const COMPONENT = 3
/** The response type for a message that quotes the command. The reply itself follows as a message of the bot. */
const SHOW = 4
/** The flag of a message that only the person who pressed the button can see. */
const EPHEMERAL = 64
const BUTTON_ROW = 1
const BUTTON = 2
const PLAIN_STYLE = 2
const MAX_LABEL = 80
/** Discord refuses longer messages, also as the response to a command. */
const MAX_CHARACTERS = 2000

export const makeDiscord = ({ base }: { base: string }): Channel => ({
  name: 'discord',
  title: 'Discord',
  credentials: ['bot_token', 'public_key'],
  mostCharacters: MAX_CHARACTERS,
  checkExternalId: () => null,

  async receive({ headers, body, now }, { credentials }) {
    const key = keyOf(secretOf(credentials, 'public_key'))
    const at = headerOf(headers, 'x-signature-timestamp')
    const signature = headerOf(headers, 'x-signature-ed25519')
    if (!/^[0-9a-f]{128}$/i.test(signature)) throw new SignatureRefused('the signature has a wrong format')
    if (!verify(null, Buffer.concat([Buffer.from(at), body]), key, Buffer.from(signature, 'hex')))
      throw new SignatureRefused('the signature is wrong')
    requireFresh(at, now)
    const interaction = readJson(body, Interaction)
    const press = interaction && pressOf(interaction)
    if (press) return { answer: json({ type: PING }), messages: [], press }
    const message = interaction && messageOf(interaction)
    if (!message) return { answer: json({ type: PING }), messages: [] }
    const shown = message.text === '' ? '…' : storable(`> ${message.text.replaceAll('\n', '\n> ')}`, MAX_CHARACTERS)
    return {
      answer: json({ type: SHOW, data: { content: shown, allowed_mentions: { parse: [] } } }),
      messages: [message],
    }
  },

  /** Discord's file hosts need no token because the address is signed. */
  fetchFile: (_config, ref, signal) =>
    fetchVendorFile({
      vendor: 'Discord',
      url: ref,
      hosts: [/^(cdn\.discordapp\.com|media\.discordapp\.net)$/, hostOf(base)],
      signal,
    }),

  addressOf: (to) => (/^\d{5,25}$/.test(to) ? { channel_id: to } : undefined),
  sends: () => true,

  async send({ credentials }, { address, text, key, signal }) {
    await call({ url: messagesAt(base, address), credentials, signal }, { content: text, ...once(key) })
  },

  buttons: {
    async send({ credentials }, { address, text, key, choices, signal }) {
      const components = choices.map(({ label, value }) => ({
        type: BUTTON,
        style: PLAIN_STYLE,
        label: label.slice(0, MAX_LABEL),
        custom_id: value,
      }))
      const { id } = await call(
        { url: messagesAt(base, address), credentials, signal },
        { content: text, components: [{ type: BUTTON_ROW, components }], ...once(key) },
      )
      return String(id)
    },
    async change({ credentials }, { address, ref, text, signal }) {
      const url = `${messagesAt(base, address)}/${encodeURIComponent(ref)}`
      await call({ url, method: 'PATCH', credentials, signal }, { content: text, components: [] })
    },
    answer: (_press, text) =>
      json({ type: SHOW, data: { content: text, flags: EPHEMERAL, allowed_mentions: { parse: [] } } }),
  },
})

const messagesAt = (base: string, { channel_id }: Record<string, string>): string =>
  `${base}/v10/channels/${encodeURIComponent(channel_id!)}/messages`

/** Discord itself accepts a message with the same nonce only once. */
const once = (key: string) => ({
  nonce: createHash('sha256').update(key).digest('hex').slice(0, 25),
  enforce_nonce: true,
})

async function call(
  to: {
    url: string
    method?: 'PATCH'
    credentials: Readonly<Record<string, string>>
    signal: AbortSignal | undefined
  },
  message: object,
): Promise<Record<string, unknown>> {
  const { status, body } = await callVendor({
    vendor: 'Discord',
    url: to.url,
    ...(to.method && { method: to.method }),
    headers: {
      authorization: `Bot ${to.credentials.bot_token}`,
      'user-agent': 'DiscordBot (https://heddle.invalid, 1)',
    },
    body: { ...message, allowed_mentions: { parse: [] } },
    signal: to.signal,
  })
  if (status >= 300) throw new ChannelFailure('refused', `Discord refused the message with status ${status}`)
  return body
}

function pressOf(interaction: z.output<typeof Interaction>): Press | undefined {
  const { id, type, data } = interaction
  const user = interaction.member?.user ?? interaction.user
  if (type !== COMPONENT || !user || user.bot || !data?.custom_id?.startsWith(BUTTON_PREFIX)) return undefined
  return {
    id,
    sender: senderOf(user, interaction),
    value: data.custom_id,
  }
}

const senderOf = (
  user: NonNullable<z.output<typeof Interaction>['user']>,
  { locale }: z.output<typeof Interaction>,
): InboundMessage['sender'] => ({
  id: user.id,
  name: storable(user.global_name ?? user.username ?? user.id, 200),
  ...localeField(locale),
})

/** Wraps the 32 bytes of an Ed25519 key in the format that Node.js requires. */
function keyOf(hex: string): KeyObject {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new SignatureRefused('the stored public key is not valid')
  const prefix = Buffer.from('302a300506032b6570032100', 'hex')
  return createPublicKey({ key: Buffer.concat([prefix, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki' })
}

function messageOf(interaction: z.output<typeof Interaction>): InboundMessage | undefined {
  const { id, type, channel_id, data } = interaction
  const user = interaction.member?.user ?? interaction.user
  if ((type !== COMMAND && type !== COMPONENT) || channel_id === undefined || !user || user.bot) return undefined
  const files = data?.resolved?.attachments ?? {}
  const written = textIn(data?.options, Object.keys(files)) ?? (Object.keys(files).length > 0 ? '' : data?.name)
  const said = type === COMPONENT ? data?.values?.join(', ') : written
  return {
    deliveryId: id,
    conversation: `${channel_id}:${user.id}`,
    sender: senderOf(user, interaction),
    text: storable(said ?? ''),
    files: Object.values(files).map(({ url, filename, content_type }) => ({
      ref: url,
      name: filename,
      mediaType: content_type ?? '',
    })),
    address: { channel_id },
    // Only a direct message contains the user instead of a member of a server.
    direct: interaction.member === undefined,
  }
}

/**
 * Returns the first text among the options of a command, at any depth of groups. The value of an attachment is its id.
 */
function textIn(options: Option[] | undefined, attached: string[]): string | undefined {
  for (const option of options ?? []) {
    const text = typeof option.value === 'string' ? option.value : textIn(option.options, attached)
    if (text !== undefined && !attached.includes(text)) return text
  }
  return undefined
}
