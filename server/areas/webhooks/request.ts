import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Json, JsonObject } from '#model/definition'
import { problem } from '#platform/errors'
import { parseJson, requireStorable } from '#platform/http/body'
import { toWire } from '#platform/ids'
import type { InboundToken } from './inbound-token.ts'

// A whole request as the input of a workflow (`input: "request"`).

/** Headers with credentials. The workflow does not need them, and readers of its executions must not see them. */
const CREDENTIAL = /authorization|cookie|secret|password|token|signature|hmac|api-?key|credential/i

export function headersWithoutCredentials(headers: FastifyRequest['headers'], auth_config: JsonObject): JsonObject {
  const own = typeof auth_config.header === 'string' ? auth_config.header.toLowerCase() : undefined
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && name !== own && !CREDENTIAL.test(name))
      .map(([name, value]) => [name, value as Json]),
  )
}

const MAX_FIELDS = 1_000
/** The maximum number of values in all fields. A repeated field becomes a list. */
const MAX_FIELD_VALUES = 10_000

const tooManyFields = () => problem('too_large', `A form may have at most ${MAX_FIELDS} fields.`)
const tooManyValues = () => problem('too_large', `A form may have at most ${MAX_FIELD_VALUES} values.`)

/** Collects fields. A repeated field becomes a list. */
export function collect(entries: Iterable<[string, string]>): JsonObject {
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of entries) {
    const before = fields.get(name)
    if (before === undefined) fields.set(name, value)
    else if (typeof before === 'string') fields.set(name, [before, value])
    else before.push(value)
    if (fields.size > MAX_FIELDS) throw tooManyFields()
  }
  return Object.fromEntries(fields)
}

/** Counts separators before anything is parsed: a megabyte can contain half a million fields. */
function refuseMore(bytes: Buffer | string, separator: string, most: number, refusal: () => Error): void {
  let count = 0
  for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, at + separator.length)) {
    count += 1
    if (count > most) throw refusal()
  }
}

function readForm(text: string): JsonObject {
  refuseMore(text, '&', MAX_FIELD_VALUES, tooManyValues)
  return collect(new URLSearchParams(text))
}

const fileOf = (bytes: Buffer, of: { field: string | null; name: string | null; media_type: string }): JsonObject => ({
  ...of,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  content_base64: bytes.toString('base64'),
})

async function readMultipart(bytes: Buffer, contentType: string): Promise<{ body: JsonObject; files: JsonObject[] }> {
  const boundary = /boundary="?([^";]+)/i.exec(contentType)?.[1]?.trim()
  if (!boundary) throw problem('malformed', 'The content type names no boundary.')
  refuseMore(bytes, `--${boundary}`, MAX_FIELDS + 1, () =>
    problem('too_large', `A form may have at most ${MAX_FIELDS} parts.`),
  )
  let form: FormData
  try {
    form = await new Response(bytes as BodyInit, { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw problem('malformed', 'The parts of the form could not be read.')
  }
  const texts: [string, string][] = []
  const files: JsonObject[] = []
  for (const [field, value] of form) {
    if (typeof value === 'string') texts.push([field, value])
    else {
      const content = Buffer.from(await value.arrayBuffer())
      files.push(fileOf(content, { field, name: value.name, media_type: value.type || 'application/octet-stream' }))
    }
  }
  return { body: collect(texts), files }
}

export type Content = { body: Json; raw_body: string | null; files: JsonObject[] }

async function contentOf(bytes: Buffer, contentType: string, maxDepth: number): Promise<Content> {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (bytes.length === 0) return { body: null, raw_body: '', files: [] }
  const isText = isUtf8(bytes) && !bytes.includes(0)
  const raw_body = isText ? bytes.toString() : null
  if (type.startsWith('multipart/form-data')) return { ...(await readMultipart(bytes, contentType)), raw_body: null }
  if (type === 'application/json' || type.endsWith('+json'))
    return { body: parseJson(bytes, maxDepth) as Json, raw_body, files: [] }
  if (raw_body === null)
    return {
      body: null,
      raw_body,
      files: [fileOf(bytes, { field: null, name: null, media_type: type || 'application/octet-stream' })],
    }
  if (type === 'application/x-www-form-urlencoded') return { body: readForm(raw_body), raw_body, files: [] }
  return { body: raw_body, raw_body, files: [] }
}

export const queryOf = (url: string): JsonObject => {
  const query = url.indexOf('?')
  return readForm(query < 0 ? '' : url.slice(query + 1))
}

/** Reads the query and the content of a request, and refuses text that cannot be stored. */
export async function readContent(
  request: Pick<FastifyRequest, 'headers' | 'url'>,
  bytes: Buffer,
  maxDepth: number,
): Promise<Content & { query: JsonObject }> {
  const content = {
    ...(await contentOf(bytes, request.headers['content-type'] ?? '', maxDepth)),
    query: queryOf(request.url),
  }
  requireStorable(content)
  return content
}

export function requestInput(
  token: InboundToken,
  request: Pick<FastifyRequest, 'method' | 'headers' | 'url'>,
  content: Content,
  now: Date,
): JsonObject {
  const input: JsonObject = {
    method: request.method,
    // With the id of the token instead of the actual path, since the secret of a `url` token is a credential.
    path: `/api/webhooks/in/${toWire('whk', token.token_id)}`,
    query: queryOf(request.url),
    headers: headersWithoutCredentials(request.headers, token.auth_config),
    ...content,
    received_at: now.toISOString(),
  }
  requireStorable(input)
  return input
}
