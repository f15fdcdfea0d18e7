import { z } from 'zod'
import { callVendor, fetchVendorFile, hostOf, rateLimited } from './call.ts'
import { type Attachment, type Channel, ChannelFailure, type InboundMessage, json, SignatureRefused } from './index.ts'
import { headerOf, same, secretOf } from './signature.ts'
import { readJson, storable } from './text.ts'

const other = z.unknown().optional()
const Kept = z.object({
  file_id: z.string().max(500),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
})

const Update = z.object({
  update_id: z.number().int(),
  message: z
    .object({
      message_thread_id: z.number().int().optional(),
      is_topic_message: z.boolean().optional(),
      from: z
        .object({
          id: z.number().int(),
          is_bot: z.boolean().optional(),
          first_name: z.string().optional(),
          last_name: z.string().optional(),
          username: z.string().optional(),
        })
        .optional(),
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
    if (!same(headerOf(headers, 'x-telegram-bot-api-secret-token'), secret))
      throw new SignatureRefused('the secret token is wrong')
    const update = readJson(body, Update)
    const message = update && messageOf(update)
    return { answer: json({ ok: true }), messages: message ? [message] : [] }
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
    // Bots are given files of at most 20 MB.
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
    const { status, body } = await callVendor({
      vendor: 'Telegram',
      url: `${base}/bot${tokenOf(credentials)}/sendMessage`,
      body: {
        chat_id: /^-?\d+$/.test(address.chat_id!) ? Number(address.chat_id) : address.chat_id,
        ...(address.thread !== undefined && { message_thread_id: Number(address.thread) }),
        text,
        link_preview_options: { is_disabled: true },
      },
      signal,
    })
    if (body.ok === true) return
    const parameters = body.parameters as { retry_after?: number } | undefined
    if (body.error_code === 429) throw rateLimited('Telegram', parameters?.retry_after ?? 1)
    throw new ChannelFailure('refused', `Telegram refused the message with status ${status}`)
  },
})

function tokenOf({ bot_token }: Readonly<Record<string, string>>): string {
  if (!/^[\w:-]+$/.test(bot_token ?? '')) throw new ChannelFailure('refused', 'The bot token is not one of Telegram.')
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
  // Somebody joined, a title was changed: nobody said anything.
  if (text === undefined && media.every((part) => part === undefined)) return undefined
  const topic = message.is_topic_message ? message.message_thread_id : undefined
  return {
    deliveryId: String(update_id),
    conversation: [chat.id, ...(topic === undefined ? [] : [topic]), from.id].join(':'),
    sender: { id: String(from.id), name: nameOf(from) },
    text: storable((text ?? '').replace(/^\/(\w+)@\w+/, '/$1')),
    files: [
      ...attachment(document, 'document', 'application/octet-stream'),
      // The same picture in several sizes, the largest last.
      ...attachment(photo?.at(-1), 'photo.jpg', 'image/jpeg'),
      ...attachment(video, 'video.mp4', 'video/mp4'),
      ...attachment(audio, 'audio.mp3', 'audio/mpeg'),
      ...attachment(voice, 'voice.ogg', 'audio/ogg'),
    ],
    address: { chat_id: String(chat.id), ...(topic !== undefined && { thread: String(topic) }) },
  }
}

const nameOf = (from: { id: number; first_name?: string; last_name?: string; username?: string }): string =>
  storable([from.first_name, from.last_name].filter(Boolean).join(' ') || from.username || String(from.id), 200)
