import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'
import { callVendor, fetchVendorFile, hostOf } from './call.ts'
import { type Channel, ChannelFailure, type InboundMessage, json, SignatureRefused } from './index.ts'
import { headerOf, requireFresh, secretOf } from './signature.ts'
import { readJson, storable } from './text.ts'

// Discord calls an address for interactions alone (slash commands, buttons); ordinary messages of a channel it does not send.

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
  member: z.object({ user: User }).optional(),
  user: User.optional(),
  data: z
    .object({
      name: z.string().optional(),
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
/** An answer type: a message that shows what was asked. The reply itself follows as a message of the bot. */
const SHOW = 4

export const makeDiscord = ({ base }: { base: string }): Channel => ({
  name: 'discord',
  title: 'Discord',
  credentials: ['bot_token', 'public_key'],
  mostCharacters: 2000,
  checkExternalId: () => null,

  async receive({ headers, body, now }, { credentials }) {
    const key = keyOf(secretOf(credentials, 'public_key'))
    const at = headerOf(headers, 'x-signature-timestamp')
    const signature = headerOf(headers, 'x-signature-ed25519')
    if (!/^[0-9a-f]{128}$/i.test(signature)) throw new SignatureRefused('the signature is no signature')
    if (!verify(null, Buffer.concat([Buffer.from(at), body]), key, Buffer.from(signature, 'hex')))
      throw new SignatureRefused('the signature is wrong')
    requireFresh(at, now)
    const interaction = readJson(body, Interaction)
    const message = interaction && messageOf(interaction)
    if (!message) return { answer: json({ type: PING }), messages: [] }
    const shown = message.text === '' ? '…' : `> ${message.text.slice(0, 1900).replaceAll('\n', '\n> ')}`
    return {
      answer: json({ type: SHOW, data: { content: shown, allowed_mentions: { parse: [] } } }),
      messages: [message],
    }
  },

  /** Its own hosts of files ask for no token: the address is signed. */
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
    const { status } = await callVendor({
      vendor: 'Discord',
      url: `${base}/v10/channels/${encodeURIComponent(address.channel_id!)}/messages`,
      headers: {
        authorization: `Bot ${credentials.bot_token}`,
        'user-agent': 'DiscordBot (https://heddle.invalid, 1)',
      },
      body: {
        content: text,
        allowed_mentions: { parse: [] },
        // Discord itself takes a message with the same nonce once.
        nonce: createHash('sha256').update(key).digest('hex').slice(0, 25),
        enforce_nonce: true,
      },
      signal,
    })
    if (status >= 300) throw new ChannelFailure('refused', `Discord refused the message with status ${status}`)
  },
})

/** The 32 bytes of an Ed25519 key as node wants them. */
function keyOf(hex: string): KeyObject {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new SignatureRefused('the stored public key is no key')
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
    sender: { id: user.id, name: storable(user.global_name ?? user.username ?? user.id, 200) },
    text: storable(said ?? ''),
    files: Object.values(files).map(({ url, filename, content_type }) => ({
      ref: url,
      name: filename,
      mediaType: content_type ?? '',
    })),
    address: { channel_id },
  }
}

/** The first text among the options of a command, in whatever group it stands. An attachment's value is its id. */
function textIn(options: Option[] | undefined, attached: string[]): string | undefined {
  for (const option of options ?? []) {
    const text = typeof option.value === 'string' ? option.value : textIn(option.options, attached)
    if (text !== undefined && !attached.includes(text)) return text
  }
  return undefined
}
