import { generateKeyPairSync, sign } from 'node:crypto'
import { type FakeVendor, jsonOf, keptFiles, type Reply, startVendor } from './server.ts'

export const DISCORD_TOKEN = 'MTk4NjIyNDgzNDcxOTI1MjQ4.fake'
const keys = generateKeyPairSync('ed25519')
const otherKeys = generateKeyPairSync('ed25519')
export const DISCORD_PUBLIC_KEY = (keys.publicKey.export({ format: 'der', type: 'spki' }) as Buffer)
  .subarray(-32)
  .toString('hex')

const no = (status: number, code: number, message: string): Reply => ({ status, body: { code, message } })

/** Imitates POST /v10/channels/{id}/messages. An enforced nonce is accepted once. */
export function startDiscord(): Promise<FakeVendor> {
  const nonces = new Set<string>()
  return startVendor((call, keep) => {
    if (call.path === '/attachments/orders.csv' && call.method === 'GET')
      return call.headers.authorization === undefined
        ? { status: 200, body: keptFiles.orders }
        : no(400, 0, 'a token is not for this host')
    if (call.headers.authorization !== `Bot ${DISCORD_TOKEN}`) return no(401, 0, '401: Unauthorized')
    if (!/^DiscordBot /.test(call.headers['user-agent'] ?? '')) return no(403, 40333, 'internal network error')
    const [, channel, changed] = /^\/v10\/channels\/(\d+)\/messages(?:\/(\d+))?$/.exec(call.path) ?? []
    if (call.method !== (changed === undefined ? 'POST' : 'PATCH') || channel === undefined)
      return no(404, 0, '404: Not Found')
    if (channel === '404404') return no(404, 10003, 'Unknown Channel')
    const body = jsonOf(call) as {
      content?: string
      nonce?: string
      enforce_nonce?: boolean
      allowed_mentions?: unknown
      components?: { components: { label: string; custom_id: string }[] }[]
    }
    const buttons = (body?.components ?? []).flatMap(({ components }) => components)
    if (!body?.content || body.content.length > 2000) return no(400, 50006, 'Cannot send an empty message')
    if (JSON.stringify(body.allowed_mentions) !== '{"parse":[]}') return no(400, 50035, 'this would call people')
    if (body.nonce !== undefined && body.nonce.length > 25) return no(400, 50035, 'nonce is too long')
    if (!(body.enforce_nonce && nonces.has(`${channel}:${body.nonce}`)))
      keep({
        to: channel,
        text: body.content,
        key: body.nonce,
        ...(buttons.length > 0 && { buttons: Object.fromEntries(buttons.map((one) => [one.label, one.custom_id])) }),
        ...(changed !== undefined && { instead: changed }),
      })
    nonces.add(`${channel}:${body.nonce}`)
    return { status: 200, body: { id: '1' } }
  })
}

export function fromDiscord(body: unknown, options: { at?: number; forged?: boolean } = {}) {
  const raw = JSON.stringify(body)
  const at = String(options.at ?? Math.floor(Date.now() / 1000))
  const { privateKey } = options.forged ? otherKeys : keys
  return {
    raw,
    headers: {
      'content-type': 'application/json',
      'x-signature-timestamp': at,
      'x-signature-ed25519': sign(null, Buffer.from(at + raw), privateKey).toString('hex'),
    } as Record<string, string>,
  }
}

let count = 0
const MASON = '53908232506183680'
/** A command in a direct message, which has no `member`. */
export const discordDirect = (text: string, user = MASON) => {
  const { member, ...command } = discordCommand(text, user)
  return { ...command, user: member.user }
}
export const discordPress = (custom_id: string, user = MASON) => ({
  id: `8470000${++count}`,
  application_id: '845027738276462632',
  type: 3,
  token: 'interaction-token',
  channel_id: '772908445358620702',
  user: { id: user, username: 'mason', global_name: 'Mason' },
  data: { custom_id, component_type: 2 },
})
export const discordCommand = (text: string, user = '53908232506183680') => ({
  id: `8460000${++count}`,
  application_id: '845027738276462632',
  type: 2,
  token: 'interaction-token',
  channel_id: '772908445358620702',
  member: { user: { id: user, username: 'mason', global_name: 'Mason' } },
  data: { id: '1', name: 'ask', type: 1, options: [{ name: 'text', type: 3, value: text }] },
})
