import { z } from 'zod'
import { callVendor, fetchVendorFile, hostOf, rateLimited } from './call.ts'
import {
  type Address,
  type Attachment,
  BUTTON_PREFIX,
  type Channel,
  ChannelFailure,
  type InboundMessage,
  json,
  type Press,
  SignatureRefused,
} from './index.ts'
import { equalInConstantTime, headerOf, secretOf } from './signature.ts'
import { Locale, localeField, readJson, storable } from './text.ts'

const other = z.unknown().optional()
const Kept = z.object({
  file_id: z.string().max(500),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
})

const From = z.object({
  id: z.number().int(),
  is_bot: z.boolean().optional(),
  language_code: Locale,
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
})

const Update = z.object({
  update_id: z.number().int(),
  callback_query: z.object({ id: z.string().max(100), from: From, data: z.string().max(100).optional() }).optional(),
  message: z
    .object({
      message_thread_id: z.number().int().optional(),
      is_topic_message: z.boolean().optional(),
      from: From.optional(),
      chat: z.object({ id: z.number().int() }),
      text: z.string().optional(),
      caption: z.string().optional(),
      voice: other,
      audio: other,
      photo: z.array(z.unknown()).optional().catch([]),
      video: other,
      video_note: other,
      sticker: other,
      document: other,
      location: other,
      contact: other,
    })
    .optional(),
})

export const makeTelegram = ({ base }: { base: string }): Channel => ({
  name: 'telegram',
  title: 'Telegram',
  credentials: ['bot_token', 'secret_token'],
  mostCharacters: 4096,
  checkExternalId: () => null,

  async receive({ headers, body }, { credentials }) {
    const secret = secretOf(credentials, 'secret_token')
    if (!equalInConstantTime(headerOf(headers, 'x-telegram-bot-api-secret-token'), secret))
      throw new SignatureRefused('the secret token is wrong')
    const update = readJson(body, Update)
    const message = update && messageOf(update)
    const press = update && pressOf(update)
    return { answer: json({ ok: true }), messages: message ? [message] : [], ...(press && { press }) }
  },

  async fetchFile({ credentials }, ref, signal) {
    const token = tokenOf(credentials)
    const { status, body } = await callVendor({
      vendor: 'Telegram',
      url: `${base}/bot${token}/getFile`,
      body: { file_id: ref },
      signal,
    })
    const path = (body.result as { file_path?: unknown } | undefined)?.file_path
    // Telegram gives bots files of at most 20 MB.
    if (body.ok !== true || typeof path !== 'string' || !/^[\w-]+(\/[\w.-]+)+$/.test(path) || path.includes('..'))
      throw new ChannelFailure('refused', `Telegram did not give the file (status ${status})`)
    return fetchVendorFile({
      vendor: 'Telegram',
      url: `${base}/file/bot${token}/${path}`,
      hosts: [hostOf(base)],
      signal,
    })
  },

  addressOf: (to) => (/^(-?\d{1,20}|@\w{3,64})$/.test(to) ? { chat_id: to } : undefined),
  sends: () => true,

  async send({ credentials }, { address, text, signal }) {
    await call(base, credentials, 'sendMessage', { ...placeOf(address), text, ...plainLinks }, signal)
  },

  buttons: {
    async send({ credentials }, { address, text, choices, signal }) {
      const inline_keyboard = choices.map(({ label, value }) => [{ text: label, callback_data: value }])
      const message = { ...placeOf(address), text, ...plainLinks, reply_markup: { inline_keyboard } }
      const { message_id } = await call(base, credentials, 'sendMessage', message, signal)
      return String(message_id)
    },
    async change({ credentials }, { address, ref, text, signal }) {
      const { chat_id } = placeOf(address)
      await call(base, credentials, 'editMessageText', { chat_id, message_id: Number(ref), text }, signal)
    },
    answer: ({ id }, text) =>
      json({ method: 'answerCallbackQuery', callback_query_id: id, text: text.slice(0, MAX_TOLD) }),
  },
})

/** The maximum length of the text shown after a button is pressed. */
const MAX_TOLD = 200
const plainLinks = { link_preview_options: { is_disabled: true } }

const placeOf = ({ chat_id, thread }: Address) => ({
  chat_id: /^-?\d+$/.test(chat_id!) ? Number(chat_id) : chat_id,
  ...(thread !== undefined && { message_thread_id: Number(thread) }),
})

async function call(
  base: string,
  credentials: Readonly<Record<string, string>>,
  method: string,
  message: object,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const { status, body } = await callVendor({
    vendor: 'Telegram',
    url: `${base}/bot${tokenOf(credentials)}/${method}`,
    body: message,
    signal,
  })
  if (body.ok === true) return (body.result ?? {}) as Record<string, unknown>
  const parameters = body.parameters as { retry_after?: number } | undefined
  if (body.error_code === 429) throw rateLimited('Telegram', parameters?.retry_after ?? 1)
  throw new ChannelFailure('refused', `Telegram refused the message with status ${status}`)
}

function pressOf({ callback_query: query }: z.output<typeof Update>): Press | undefined {
  if (!query?.data?.startsWith(BUTTON_PREFIX) || query.from.is_bot) return undefined
  return { id: query.id, sender: senderOf(query.from), value: query.data }
}

function tokenOf({ bot_token }: Readonly<Record<string, string>>): string {
  if (!/^[\w:-]+$/.test(bot_token ?? ''))
    throw new ChannelFailure('refused', 'The bot token is not valid for Telegram.')
  return bot_token!
}

const attachment = (given: unknown, name: string, mediaType: string): Attachment[] => {
  const { data: kept } = Kept.safeParse(given)
  return kept ? [{ ref: kept.file_id, name: kept.file_name ?? name, mediaType: kept.mime_type ?? mediaType }] : []
}

function messageOf({ update_id, message }: z.output<typeof Update>): InboundMessage | undefined {
  if (!message?.from || message.from.is_bot) return undefined
  const { from, chat } = message
  const { voice, audio, photo, video, video_note, sticker, document, location, contact } = message
  const text = message.text ?? message.caption
  const media = [voice, audio, photo, video, video_note, sticker, document, location, contact]
  // Service messages (a person joined, a title changed) contain no text and no files.
  if (text === undefined && media.every((part) => part === undefined)) return undefined
  const topic = message.is_topic_message ? message.message_thread_id : undefined
  return {
    deliveryId: String(update_id),
    conversation: [chat.id, ...(topic === undefined ? [] : [topic]), from.id].join(':'),
    sender: senderOf(from),
    text: storable((text ?? '').replace(/^\/(\w+)@\w+/, '/$1')),
    files: [
      ...attachment(document, 'document', 'application/octet-stream'),
      // The same picture in several sizes; the largest is last.
      ...attachment(photo?.at(-1), 'photo.jpg', 'image/jpeg'),
      ...attachment(video, 'video.mp4', 'video/mp4'),
      ...attachment(audio, 'audio.mp3', 'audio/mpeg'),
      ...attachment(voice, 'voice.ogg', 'audio/ogg'),
    ],
    address: { chat_id: String(chat.id), ...(topic !== undefined && { thread: String(topic) }) },
    direct: chat.id === from.id,
  }
}

const senderOf = (from: z.output<typeof From>): InboundMessage['sender'] => ({
  id: String(from.id),
  name: nameOf(from),
  ...localeField(from.language_code),
})

const nameOf = (from: { id: number; first_name?: string; last_name?: string; username?: string }): string =>
  storable([from.first_name, from.last_name].filter(Boolean).join(' ') || from.username || String(from.id), 200)
