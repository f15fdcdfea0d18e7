import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import type { Json, JsonObject } from '#model/definition'
import type { Received, Told } from './vendor.ts'

// The request that each action must send and the output it must return, copied from the vendors' references: literal
// requests, not derived from the manifests. docs/services.md describes the format of the files.

/** An expected request, for example `"POST https://api.example.com/items?limit=10"`, and its body. */
export type Sent = {
  json?: Json
  form?: Record<string, string>
  multipart?: Record<string, string>
  related?: { json: Json; file: string }
  text?: string
  file?: true
  mime?: JsonObject
  headers?: Record<string, string>
}

export type ActionCase = Sent & {
  args?: JsonObject
  sends: string | string[]
  /** The body of each request, if there are several. */
  jsons?: Json[]
  answer?: Json
  answers?: Json[]
  gives?: Json
}

export type ServiceCases = {
  credential?: {
    service: string
    secrets?: Record<string, string>
    hosts?: string[]
    config?: JsonObject
    token?: string
  }
  /** Headers and query parameters of every request. */
  headers?: Record<string, string>
  query?: Record<string, string>
  error: { action?: string; answer: [number, Json, Record<string, string>?]; failure: JsonObject }
  rate: { answer: [number, Json, Record<string, string>?]; after?: number }
  actions: Record<string, ActionCase>
}

const FOLDER = import.meta.dirname

export const readCases = (): Map<string, ServiceCases> =>
  new Map(
    readdirSync(FOLDER)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as ServiceCases]),
  )

/** Reads an answer: `{"$status", "$headers", "$body"}`, or a body with status 200. */
export function toldOf(answer: Json | undefined): Told {
  const given = (typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? answer : {}) as JsonObject
  if (!('$status' in given) && !('$body' in given) && !('$headers' in given))
    return { status: 200, headers: {}, body: answer ?? {} }
  return {
    status: Number(given.$status ?? 200),
    headers: (given.$headers ?? {}) as Record<string, string>,
    body: given.$body ?? '',
  }
}

const IGNORED = new Set([
  'host',
  'connection',
  'accept-encoding',
  'user-agent',
  'content-length',
  'transfer-encoding',
  'x-amz-date',
  'x-amz-content-sha256',
])

const typeOf = (value: string | undefined): string => (value ?? '').split(';')[0]!

type Form = Record<string, string>
function partsOf(contentType: string, body: Buffer): Form {
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1] ?? ''
  const parts: Form = {}
  for (const piece of body.toString('utf8').split(`--${boundary}`).slice(1, -1)) {
    const at = piece.indexOf('\r\n\r\n')
    const name = /name="([^"]*)"/.exec(piece)?.[1] ?? String(Object.keys(parts).length)
    const file = /filename="([^"]*)"/.exec(piece)?.[1]
    parts[name] = `${file === undefined ? '' : `${file}: `}${piece.slice(at + 4, -2)}`
  }
  return parts
}

/** Returns a received request in the format of a case. */
export async function seenIn(received: Received, wanted: Sent): Promise<Sent & { request: string; type: string }> {
  const { method, origin, path, query, headers, body } = received
  const text = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  const { 'content-type': contentType, ...others } = headers
  // The rest of a signature depends on the time.
  const shown = Object.entries(others)
    .filter(([name]) => !IGNORED.has(name))
    .map(([name, value]) => [name, String(value).replace(/(AWS4-HMAC-SHA256 Credential=\w+)\/.*/, '$1')])
  const type = typeOf(contentType)
  const seen: Sent & { request: string; type: string } = {
    request: `${method} ${origin}${path}${text && `?${text}`}`,
    type,
    headers: Object.fromEntries(shown) as Record<string, string>,
  }
  if (wanted.mime !== undefined) {
    const sent = JSON.parse(body.toString()) as JsonObject
    const message = (sent.message ?? sent) as JsonObject
    const mime = await mimeOf(Buffer.from(String(message.raw), 'base64url'))
    message.raw = '…'
    return { ...seen, mime, json: sent }
  }
  if (wanted.file) return { ...seen, file: true, text: body.toString() }
  if (type === 'application/json') seen.json = JSON.parse(body.toString()) as Json
  else if (type === 'application/x-www-form-urlencoded')
    seen.form = Object.fromEntries(new URLSearchParams(body.toString()))
  else if (type === 'multipart/form-data') seen.multipart = partsOf(String(contentType), body)
  else if (type === 'multipart/related') {
    const parts = partsOf(String(contentType), body)
    seen.related = { json: JSON.parse(parts[0]!) as Json, file: parts[1]! }
  } else if (body.length > 0) seen.text = body.toString()
  return seen
}

async function mimeOf(bytes: Buffer): Promise<JsonObject> {
  const mail = await PostalMime.parse(bytes)
  const addresses = (list: { address?: string }[] | undefined): string[] =>
    (list ?? []).map(({ address }) => address ?? '')
  return {
    to: addresses(mail.to),
    ...(mail.from?.address && { from: mail.from.address }),
    ...(mail.cc && { cc: addresses(mail.cc) }),
    ...(mail.bcc && { bcc: addresses(mail.bcc) }),
    subject: mail.subject ?? '',
    ...(mail.text && { text: mail.text.trim() }),
    ...(mail.html && { html: mail.html.trim() }),
    ...(mail.inReplyTo && { in_reply_to: mail.inReplyTo }),
    ...(mail.attachments.length > 0 && { attachments: mail.attachments.map(({ filename }) => filename ?? '') }),
  }
}

/** Returns the expected request of a case in the same format. */
export function wantedIn(
  request: string,
  { headers: common = {}, query = {} }: Pick<ServiceCases, 'headers' | 'query'>,
  { headers = {}, ...sent }: Sent,
): Sent & { request: string; type: string } {
  const [method, address = ''] = request.split(' ')
  const url = new URL(address)
  const pairs = [...url.searchParams, ...Object.entries(query)].sort(([a, x], [b, y]) =>
    a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1,
  )
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  const { 'content-type': stated, ...others } = headers
  const type =
    stated ??
    (sent.json !== undefined || sent.mime !== undefined
      ? 'application/json'
      : sent.form
        ? 'application/x-www-form-urlencoded'
        : sent.multipart
          ? 'multipart/form-data'
          : sent.related
            ? 'multipart/related'
            : sent.text !== undefined || sent.file
              ? 'text/plain'
              : '')
  return {
    request: `${method} ${url.origin}${url.pathname}${text && `?${text}`}`,
    type,
    headers: { ...common, ...others },
    ...sent,
    ...(sent.file && { text: 'hello' }),
  }
}
