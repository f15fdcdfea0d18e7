import { createHmac } from 'node:crypto'
import { type Call, type FakeVendor, type Reply, startVendor } from './server.ts'

export const SLACK_TOKEN = 'xoxb-1234-fake'
export const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'

const no = (error: string): Reply => ({ status: 200, body: { ok: false, error } })

/** chat.postMessage as Slack has it: form fields, a bearer token, `ok: false` with status 200 for what it refuses. */
export function startSlack(): Promise<FakeVendor> {
  return startVendor((call: Call, keep) => {
    if (call.method !== 'POST') return { status: 405, body: {} }
    if (call.path !== '/chat.postMessage') return no('unknown_method')
    if (call.headers.authorization !== `Bearer ${SLACK_TOKEN}`) return no('invalid_auth')
    if (!/^application\/x-www-form-urlencoded/.test(call.headers['content-type'] ?? '')) return no('invalid_form_data')
    const form = new URLSearchParams(call.body.toString())
    const [channel, text] = [form.get('channel'), form.get('text')]
    if (channel === null || !/^[A-Z][A-Z0-9]+$/.test(channel) || channel === 'CGONE') return no('channel_not_found')
    if (text === null || text === '') return no('no_text')
    if (text.length > 40_000) return no('msg_too_long')
    if (/<!|<@/.test(text)) return no('this would call people')
    keep({ to: channel, text, thread: form.get('thread_ts') ?? undefined })
    return { status: 200, body: { ok: true, channel, ts: '1700000000.000100' } }
  })
}

/** A request as Slack sends it. */
export function fromSlack(body: unknown, options: { secret?: string; at?: number } = {}) {
  const raw = JSON.stringify(body)
  const at = String(options.at ?? Math.floor(Date.now() / 1000))
  const mac = createHmac('sha256', options.secret ?? SLACK_SECRET)
    .update(`v0:${at}:${raw}`)
    .digest('hex')
  return {
    raw,
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${mac}`,
    } as Record<string, string>,
  }
}

let count = 0
export const slackMessage = (text: string, more: Record<string, unknown> = {}) => ({
  token: 'ignored',
  team_id: 'T0HOME',
  api_app_id: 'A0APP',
  type: 'event_callback',
  event_id: `Ev${++count}`,
  event_time: Math.floor(Date.now() / 1000),
  event: {
    type: 'message',
    channel: 'D0DIRECT',
    channel_type: 'im',
    user: 'U0PERSON',
    text,
    ts: `${Math.floor(Date.now() / 1000)}.${String(++count).padStart(6, '0')}`,
    ...more,
  },
})
