import { createHmac } from 'node:crypto'
import { type Call, type FakeVendor, keptFiles, type Reply, startVendor } from './server.ts'

export const SLACK_TOKEN = 'xoxb-1234-fake'
export const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'

const no = (error: string): Reply => ({ status: 200, body: { ok: false, error } })

/**
 * Imitates chat.postMessage and the history of Slack: form fields, a bearer token, and `ok: false` with status 200 for
 * a refusal. The app may read direct messages and channels, but not private channels (`G…`).
 */
export function startSlack(): Promise<FakeVendor> {
  const history: { channel: string; thread: string | null; ts: number; metadata: unknown }[] = []
  return startVendor((call: Call, keep) => {
    if (call.path === '/files-pri/orders.csv' && call.method === 'GET')
      return call.headers.authorization === `Bearer ${SLACK_TOKEN}`
        ? { status: 200, body: keptFiles.orders }
        : { status: 302, body: '', headers: { location: 'https://slack.com/signin' } }
    if (call.method !== 'POST') return { status: 405, body: {} }
    if (call.path.startsWith('/actions/')) {
      const { response_type, replace_original, text } = JSON.parse(call.body.toString()) as Record<string, unknown>
      if (response_type !== 'ephemeral' || replace_original !== false || typeof text !== 'string') return no('invalid')
      keep({ to: call.path.slice('/actions/'.length), text })
      return { status: 200, body: 'ok' }
    }
    if (!/^\/(chat\.postMessage|chat\.update|conversations\.(history|replies))$/.test(call.path))
      return no('unknown_method')
    if (call.headers.authorization !== `Bearer ${SLACK_TOKEN}`) return no('invalid_auth')
    if (!/^application\/x-www-form-urlencoded/.test(call.headers['content-type'] ?? '')) return no('invalid_form_data')
    const form = new URLSearchParams(call.body.toString())
    const [channel, text] = [form.get('channel'), form.get('text')]
    if (channel === null || !/^[A-Z][A-Z0-9]+$/.test(channel) || channel === 'CGONE') return no('channel_not_found')
    if (call.path.startsWith('/conversations')) {
      if (channel.startsWith('G')) return no('missing_scope')
      const thread = call.path.endsWith('replies') ? form.get('ts') : null
      const found = history.filter(
        (one) => one.channel === channel && one.thread === thread && one.ts >= Number(form.get('oldest')),
      )
      const shown = form.get('include_all_metadata') === 'true' ? found : found.map(({ metadata: _, ...one }) => one)
      return { status: 200, body: { ok: true, messages: shown.map((one) => ({ ...one, ts: String(one.ts) })) } }
    }
    if (text === null || text === '') return no('no_text')
    if (text.length > 40_000) return no('msg_too_long')
    if (/<!|<@/.test(text)) return no('this would call people')
    const blocks = JSON.parse(form.get('blocks') ?? '[]') as {
      elements?: { text: { text: string }; value: string }[]
    }[]
    const buttons = blocks.flatMap(({ elements = [] }) => elements)
    keep({
      to: channel,
      text,
      thread: form.get('thread_ts') ?? undefined,
      ...(buttons.length > 0 && { buttons: Object.fromEntries(buttons.map((one) => [one.text.text, one.value])) }),
      ...(call.path === '/chat.update' && { instead: String(form.get('ts')) }),
    })
    const metadata = JSON.parse(form.get('metadata') ?? 'null')
    history.push({ channel, thread: form.get('thread_ts'), ts: Date.now() / 1000, metadata })
    return { status: 200, body: { ok: true, channel, ts: '1700000000.000100' } }
  })
}

/** Returns a request as Slack sends it; an interaction is a form. */
export function fromSlack(body: unknown, options: { secret?: string; at?: number; form?: boolean } = {}) {
  const raw = options.form ? new URLSearchParams({ payload: JSON.stringify(body) }).toString() : JSON.stringify(body)
  const at = String(options.at ?? Math.floor(Date.now() / 1000))
  const mac = createHmac('sha256', options.secret ?? SLACK_SECRET)
    .update(`v0:${at}:${raw}`)
    .digest('hex')
  return {
    raw,
    headers: {
      'content-type': options.form ? 'application/x-www-form-urlencoded' : 'application/json',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${mac}`,
    } as Record<string, string>,
  }
}

let count = 0
/** `responseUrl`: the address at which Slack accepts messages that only this person sees. */
export const slackPress = (value: string, user = 'U0PERSON', responseUrl?: string) => ({
  type: 'block_actions',
  trigger_id: `tr${++count}`,
  team: { id: 'T0HOME' },
  user: { id: user, username: 'ada' },
  ...(responseUrl !== undefined && { response_url: responseUrl }),
  actions: [{ action_id: 'heddle_0', value }],
})
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
