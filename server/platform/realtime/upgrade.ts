import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Channel } from './channel.ts'
import type { Closing } from './connection.ts'
import type { FeedKind } from './feed.ts'

// Reads what a client requests when it connects. The ticket is sent as a subprotocol, which is not logged; only clients
// that cannot do that send it in the query.

export type UpgradeRequest = {
  kind: FeedKind
  channel: Channel
  id: string | undefined
  ticket: string
  after: number | undefined
}

export function readUpgrade(
  request: IncomingMessage,
  channels: ReadonlyMap<FeedKind, Channel>,
  baseUrl: string | undefined,
): UpgradeRequest | Extract<Closing, 'gone' | 'refused' | 'bad_ticket'> {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  const wanted = new URLSearchParams(query)
  const ticket = ticketOf(request) ?? wanted.get('ticket')
  if (!ticket || !fromOwnPage(request, baseUrl)) return 'bad_ticket'
  const after = wanted.get('after')
  if (after !== null && !isPosition(after)) return 'refused'
  for (const [kind, channel] of channels) {
    const match = patternOf(channel.feed.path).exec(path)
    if (match) return { kind, channel, id: match[1], ticket, after: after === null ? undefined : Number(after) }
  }
  return 'gone'
}

/** Positions are PostgreSQL integers. A larger one would fail the query that reads for every socket of the feed. */
const isPosition = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/, '([^/]+)')}$`)

function ticketOf(request: IncomingMessage): string | undefined {
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim())
  return offered?.find((protocol) => protocol.startsWith('ticket.'))?.slice('ticket.'.length)
}

/**
 * Checks the origin. Only pages of the service can request a ticket, so a ticket from a page of another site was
 * stolen.
 */
function fromOwnPage(request: IncomingMessage, baseUrl: string | undefined): boolean {
  const { origin, host } = request.headers
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const from = new URL(origin).host
  return from === host?.toLowerCase() || (baseUrl !== undefined && from === new URL(baseUrl).host)
}

export function refuseUpgrade(stream: Duplex, status: string): void {
  const again = status.startsWith('503') ? 'Retry-After: 1\r\n' : ''
  stream.end(`HTTP/1.1 ${status}\r\n${again}Connection: close\r\nContent-Length: 0\r\n\r\n`)
}
