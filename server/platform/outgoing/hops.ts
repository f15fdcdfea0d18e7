import { OutgoingFailure } from './failure.ts'

/** A body that is read while it is sent, and again from its start for each redirect. */
export type StreamedBody = { bytes: number; chunks(): AsyncIterable<Buffer> }

export type Hop = {
  method: string
  url: URL
  headers: Record<string, string>
  body: string | Buffer | StreamedBody | null
}

export const MAX_REDIRECTS = 5
const MAX_URL = 8_192

/** Headers that the client sets itself, or that could blur where one request ends and the next starts. */
const REFUSED_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
])
/**
 * The only headers that are kept in a redirect to another origin. A key may be in any header, not only in
 * Authorization.
 */
const KEPT_ACROSS_ORIGINS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const METHOD = /^[A-Z]{1,20}$/

const wrong = (message: string): OutgoingFailure => new OutgoingFailure('request_invalid', message)

export function firstHop(request: {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: string | Buffer | StreamedBody | null
}): Hop {
  const method = (request.method ?? 'GET').toUpperCase()
  if (!METHOD.test(method) || method === 'CONNECT' || method === 'TRACE')
    throw wrong(`method "${method}" is not allowed`)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[checkHeader(name, value)] = value
  return { method, url: parseUrl(request.url), headers, body: request.body ?? null }
}

export function checkHeader(name: string, value: string): string {
  const lower = name.toLowerCase()
  if (!NAME.test(name)) throw wrong('a header name may contain only letters, digits and dashes')
  if (REFUSED_HEADERS.has(lower)) throw wrong(`header "${lower}" cannot be set`)
  if (value.length > 16_384 || /[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw wrong(`header "${lower}" contains characters that are not allowed`)
  return lower
}

function parseUrl(text: string | URL, base?: URL): URL {
  if (String(text).length > MAX_URL || !URL.canParse(String(text), base)) throw wrong('the address is not a valid URL')
  const url = new URL(String(text), base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong('the address must begin with http:// or https://')
  if (url.username || url.password) throw wrong('send user name and password in a header, not in the address')
  if (url.hostname === '') throw wrong('the address names no host')
  return url
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

export function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = parseUrl(location, hop.url)
  const toGet = status === 303 ? hop.method !== 'HEAD' : (status === 301 || status === 302) && hop.method === 'POST'
  const sameOrigin = url.origin === hop.url.origin
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(
      ([name]) => (sameOrigin || KEPT_ACROSS_ORIGINS.has(name)) && !(toGet && name.startsWith('content-')),
    ),
  )
  return { method: toGet ? 'GET' : hop.method, url, headers, body: toGet ? null : hop.body }
}
