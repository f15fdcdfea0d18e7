import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import { SECOND } from '#platform/clock'
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
  plain,
  SignatureRefused,
} from './index.ts'
import { equalInConstantTime, headerOf, hmac, requireFresh, secretOf } from './signature.ts'
import { MAX_READ, readJson, storable } from './text.ts'

const Event = z.object({
  type: z.string(),
  challenge: z.string().max(1000).optional(),
  team_id: z.string().optional(),
  event: z
    .object({
      type: z.string(),
      subtype: z.string().optional(),
      bot_id: z.string().optional(),
      user: z.string().max(100).optional(),
      text: z.string().optional(),
      channel: z.string().max(100).optional(),
      channel_type: z.string().optional(),
      ts: z.string().max(100).optional(),
      thread_ts: z.string().max(100).optional(),
      files: z
        .array(
          z.object({
            name: z.string().nullish(),
            mimetype: z.string().nullish(),
            url_private_download: z.string().max(2000).optional(),
          }),
        )
        .optional()
        .catch(undefined),
    })
    .optional(),
})
type Event = z.output<typeof Event>

const ignored = { answer: json({ ok: true }), messages: [] }

export const makeSlack = ({ base }: { base: string }): Channel => ({
  name: 'slack',
  title: 'Slack',
  credentials: ['bot_token', 'signing_secret'],
  mostCharacters: 4000,
  checkExternalId: () => null,

  async receive({ headers, body, now }, { credentials, external_id }) {
    const secret = secretOf(credentials, 'signing_secret')
    const at = headerOf(headers, 'x-slack-request-timestamp')
    const expected = `v0=${hmac(secret, `v0:${at}:`, body).toString('hex')}`
    if (!equalInConstantTime(headerOf(headers, 'x-slack-signature'), expected))
      throw new SignatureRefused('the signature is wrong')
    requireFresh(at, now)
    if (/^application\/x-www-form-urlencoded\b/i.test(headerOf(headers, 'content-type'))) {
      const press = pressOf(body, external_id)
      return { answer: plain(''), messages: [], ...(press && { press }) }
    }
    const event = readJson(body, Event)
    if (!event) return ignored
    if (event.type === 'url_verification') return { answer: plain(event.challenge ?? ''), messages: [] }
    // One app can be installed in many teams; the stored token belongs to only one of them.
    if (/^T[A-Z0-9]+$/.test(external_id) && event.team_id !== undefined && event.team_id !== external_id) return ignored
    const message = event.type === 'event_callback' ? messageOf(event.event) : undefined
    return { ...ignored, messages: message ? [message] : [] }
  },

  /** Slack redirects a token without the right to read files to a sign-in page, so redirects are not followed. */
  fetchFile: ({ credentials }, ref, signal) =>
    fetchVendorFile({
      vendor: 'Slack',
      url: ref,
      hosts: [/^files\.slack\.com$/, hostOf(base)],
      headers: { authorization: `Bearer ${credentials.bot_token}` },
      signal,
    }),

  addressOf: (to) => (/^[A-Z][A-Z0-9]{2,30}$/.test(to) ? { channel: to } : undefined),
  sends: () => true,

  async send({ credentials }, { address, text, key, triedSince }) {
    const client = await clientOf(base, credentials)
    try {
      if (triedSince && (await isPosted(client, address, key, triedSince))) return
      await client.chat.postMessage({
        channel: address.channel!,
        text: escapeText(text),
        // Slack has no idempotency keys. This metadata is invisible to people and can be found again in the history.
        metadata: { event_type: KEY_EVENT, event_payload: { key } },
        ...(address.thread_ts !== undefined && { thread_ts: address.thread_ts }),
        unfurl_links: false,
        unfurl_media: false,
      })
    } catch (error) {
      throw asFailure(error)
    }
  },

  buttons: {
    async send({ credentials }, { address, text, choices }) {
      const client = await clientOf(base, credentials)
      try {
        const { channel, ts } = await client.chat.postMessage({
          channel: address.channel!,
          text: escapeText(text),
          blocks: blocksOf(text, choices),
          unfurl_links: false,
          unfurl_media: false,
        })
        return `${channel ?? address.channel}:${ts}`
      } catch (error) {
        throw asFailure(error)
      }
    },
    async change({ credentials }, { ref, text }) {
      const client = await clientOf(base, credentials)
      const [channel = '', ts = ''] = ref.split(':')
      try {
        await client.chat.update({ channel, ts, text: escapeText(text), blocks: [] })
      } catch (error) {
        throw asFailure(error)
      }
    },
    // No response is needed: the message itself is changed to show the outcome.
    answer: () => plain(''),
    async refuse({ replyTo }, text) {
      // The signature proves only which app sent the request, and anyone may own an app. So this sends to Slack's hosts
      // only.
      if (replyTo === undefined || !isAddressOf(replyTo, base)) return
      const body = { response_type: 'ephemeral', replace_original: false, text: escapeText(text) }
      const signal = AbortSignal.timeout(REFUSAL_TIMEOUT)
      const { status } = await callVendor({ vendor: 'Slack', url: replyTo, body, signal })
      if (status !== 200) throw new ChannelFailure('refused', `Slack answered with status ${status}`)
    },
  },
})

/** Slack waits three seconds for the response to an interaction, then shows an error. */
const REFUSAL_TIMEOUT = 2 * SECOND

const isAddressOf = (url: string, base: string): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, host } = new URL(url)
  return host === hostOf(base) || (protocol === 'https:' && host === 'hooks.slack.com')
}

async function clientOf(base: string, { bot_token }: Readonly<Record<string, string>>): Promise<WebClient> {
  const { WebClient } = await import('@slack/web-api')
  return new WebClient(bot_token, {
    slackApiUrl: `${base}/`,
    allowAbsoluteUrls: false,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    timeout: 15_000,
    logger: silent,
  })
}

/** The maximum length of one section of a message. */
const MAX_SECTION = 3000
const MAX_LABEL = 75

const blocksOf = (text: string, choices: { label: string; value: string }[]) => [
  { type: 'section' as const, text: { type: 'plain_text' as const, text: text.slice(0, MAX_SECTION) } },
  {
    type: 'actions' as const,
    elements: choices.map(({ label, value }, at) => ({
      type: 'button' as const,
      action_id: `heddle_${at}`,
      text: { type: 'plain_text' as const, text: label.slice(0, MAX_LABEL) },
      value,
    })),
  },
]

const Pressed = z.object({
  type: z.string(),
  trigger_id: z.string().max(200).optional(),
  response_url: z.string().max(2000).optional(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.object({ id: z.string().max(100), name: z.string().optional(), username: z.string().optional() }),
  actions: z.array(z.object({ value: z.string().max(200).optional() })).max(10),
})

/** Reads the body of an interaction: a form with a JSON field. */
function pressOf(body: Buffer, externalId: string): Press | undefined {
  const payload = new URLSearchParams(body.toString('utf8')).get('payload')
  const pressed = payload === null ? undefined : readJson(Buffer.from(payload), Pressed)
  const value = pressed?.actions[0]?.value
  if (pressed?.type !== 'block_actions' || !value?.startsWith(BUTTON_PREFIX)) return undefined
  if (/^T[A-Z0-9]+$/.test(externalId) && pressed.team && pressed.team.id !== externalId) return undefined
  const { trigger_id, response_url, user } = pressed
  return {
    id: trigger_id ?? user.id,
    sender: { id: user.id, name: storable(user.name ?? user.username ?? user.id, 200) },
    value,
    ...(response_url !== undefined && { replyTo: response_url }),
  }
}

const KEY_EVENT = 'heddle_message'
/** The maximum assumed difference between Slack's clock and ours. */
const CLOCKS_APART_S = 120

/**
 * Checks whether the history contains the message. Returns false, so that the message is sent, if the app may not read
 * the history or reading fails.
 */
async function isPosted(
  client: WebClient,
  { channel, thread_ts }: Address,
  key: string,
  since: Date,
): Promise<boolean> {
  const wanted = {
    channel: channel!,
    oldest: String(since.getTime() / 1000 - CLOCKS_APART_S),
    include_all_metadata: true,
    limit: 200,
  }
  try {
    const { messages } = await (thread_ts === undefined
      ? client.conversations.history(wanted)
      : client.conversations.replies({ ...wanted, ts: thread_ts }))
    return (messages ?? []).some((message) => {
      const { metadata } = message as { metadata?: { event_type?: string; event_payload?: { key?: unknown } } }
      return metadata?.event_type === KEY_EVENT && metadata.event_payload?.key === key
    })
  } catch (error) {
    if (asFailure(error).code === 'rate_limited') throw error
    return false
  }
}

function messageOf(event: Event['event']): InboundMessage | undefined {
  if (!event || (event.type !== 'message' && event.type !== 'app_mention')) return undefined
  const { channel, user, ts } = event
  // Messages of bots, including our own answers, are never answered.
  if (channel === undefined || user === undefined || ts === undefined || event.bot_id !== undefined) return undefined
  if (event.subtype !== undefined && event.subtype !== 'file_share') return undefined
  const direct = event.channel_type === 'im' || channel.startsWith('D')
  const thread = event.thread_ts ?? (direct ? undefined : ts)
  return {
    // A mention in a channel is delivered twice, as `message` and as `app_mention`.
    deliveryId: `${channel}:${ts}`,
    conversation: [channel, ...(thread === undefined ? [] : [thread]), user].join(':'),
    sender: { id: user, name: user },
    text: readText(event.text ?? ''),
    files: (event.files ?? []).flatMap(({ name, mimetype, url_private_download: ref }): Attachment[] =>
      ref === undefined ? [] : [{ ref, name: name ?? 'file', mediaType: mimetype ?? '' }],
    ),
    address: { channel, ...(thread !== undefined && { thread_ts: thread }) },
    direct,
  }
}

const readText = (text: string): string =>
  storable(
    text
      .slice(0, MAX_READ)
      .replace(/^\s*<@[A-Z0-9]+(?:\|[^>]*)?>[:,]?\s*/, '')
      .replaceAll(/<([^<>]+)>/g, shownOf)
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  )

/** Returns the label of a link, or its address. */
const shownOf = (whole: string, inner: string): string => {
  const label = /^[^|]+\|(.+)$/s.exec(inner)?.[1]
  return label ?? (/^(?:https?|mailto|tel):./s.test(inner) ? inner : whole)
}

/** Escapes text, because `<!channel>` and similar tags would notify everyone. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const LATER = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org'])

function asFailure(error: unknown): ChannelFailure {
  const { code, retryAfter, data, statusCode } = error as {
    code?: string
    retryAfter?: number
    data?: { error?: string }
    statusCode?: number
  }
  if (code === 'slack_webapi_rate_limited_error') return rateLimited('Slack', retryAfter ?? 1)
  if (code === 'slack_webapi_platform_error') {
    const reason = /^[a-z_]{1,60}$/.test(data?.error ?? '') ? data!.error! : 'unknown'
    if (reason === 'ratelimited' || reason === 'rate_limited') return rateLimited('Slack', 1)
    return new ChannelFailure(LATER.has(reason) ? 'unavailable' : 'refused', `Slack refused the message: ${reason}`)
  }
  if (code === 'slack_webapi_http_error' && statusCode !== undefined && statusCode < 500)
    return new ChannelFailure('refused', `Slack answered with status ${statusCode}`)
  return new ChannelFailure('unavailable', 'Slack cannot be reached')
}

const nothing = (): void => {}
const silent = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => 'error' as never,
}
