import { type FakeVendor, jsonOf, keptFiles, type Reply, startVendor } from './server.ts'

export const TELEGRAM_TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
export const TELEGRAM_SECRET = 'telegram-secret_token-1'

const no = (error_code: number, description: string): Reply => ({
  status: error_code,
  body: { ok: false, error_code, description },
})

/** Imitates sendMessage of the bot API. */
export function startTelegram(): Promise<FakeVendor> {
  return startVendor((call, keep) => {
    if (call.path === `/file/bot${TELEGRAM_TOKEN}/documents/orders.csv` && call.method === 'GET')
      return { status: 200, body: keptFiles.orders }
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(call.path) ?? []
    if (token !== TELEGRAM_TOKEN) return no(401, 'Unauthorized')
    if (method === 'getFile')
      return jsonOf(call)?.file_id === 'orders'
        ? { status: 200, body: { ok: true, result: { file_id: 'orders', file_path: 'documents/orders.csv' } } }
        : no(400, 'Bad Request: file is too big')
    if ((method !== 'sendMessage' && method !== 'editMessageText') || call.method !== 'POST')
      return no(404, 'Not Found')
    const body = jsonOf(call)
    if (!/^application\/json/.test(call.headers['content-type'] ?? '') || !body) return no(400, 'Bad Request: no JSON')
    const { chat_id, text, message_thread_id, message_id } = body
    const markup = body.reply_markup as { inline_keyboard?: { text: string; callback_data: string }[][] } | undefined
    const buttons = (markup?.inline_keyboard ?? []).flat()
    if (buttons.some(({ callback_data }) => Buffer.byteLength(callback_data) > 64))
      return no(400, 'Bad Request: BUTTON_DATA_INVALID')
    if (method === 'editMessageText' && typeof message_id !== 'number') return no(400, 'Bad Request: message not found')
    if (typeof chat_id !== 'number' && !(typeof chat_id === 'string' && chat_id.startsWith('@')))
      return no(400, 'Bad Request: chat not found')
    if (typeof text !== 'string' || text === '') return no(400, 'Bad Request: message text is empty')
    if (text.length > 4096) return no(400, 'Bad Request: message is too long')
    if (chat_id === 403) return no(403, 'Forbidden: bot was blocked by the user')
    keep({
      to: String(chat_id),
      text,
      ...(message_thread_id !== undefined && { thread: String(message_thread_id) }),
      ...(buttons.length > 0 && { buttons: Object.fromEntries(buttons.map((one) => [one.text, one.callback_data])) }),
      ...(method === 'editMessageText' && { instead: String(message_id) }),
    })
    return { status: 200, body: { ok: true, result: { message_id: 1 } } }
  })
}

export const telegramBusy = (seconds: number): Reply => ({
  status: 429,
  body: {
    ok: false,
    error_code: 429,
    description: `Too Many Requests: retry after ${seconds}`,
    parameters: { retry_after: seconds },
  },
})

export function fromTelegram(body: unknown, secret = TELEGRAM_SECRET) {
  return {
    raw: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret } as Record<
      string,
      string
    >,
  }
}

let update = 1000
export const telegramPress = (data: string, from = 77) => ({
  update_id: ++update,
  callback_query: {
    id: String(update),
    from: { id: from, is_bot: false, first_name: 'Ada' },
    message: { message_id: 1, chat: { id: from } },
    data,
  },
})
export const telegramMessage = (text: string, from = 77, chat = from) => ({
  update_id: ++update,
  message: {
    message_id: update,
    from: { id: from, is_bot: false, first_name: 'Ada', username: 'ada' },
    chat: { id: chat, type: chat === from ? 'private' : 'group' },
    date: Math.floor(Date.now() / 1000),
    text,
  },
})
