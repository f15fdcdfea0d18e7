import { credentialField, type OpenCredential, openNamed } from '#engine/credentials'
import { type Files, fileSchema } from '#engine/files'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing, OutgoingResponse } from '#platform/outgoing/outgoing'
import { retryAfterS } from '#platform/outgoing/retry-after'
import { bodyOf, textOf } from './http-body.ts'
import { multipartSchema, savingAnswer, streamedBody } from './http-files.ts'
import { fetchPages, paginateField } from './http-pages.ts'
import { awaitRate, rateField, type TakeRate } from './http-rate.ts'
import { checked, fields } from './kind.ts'

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** Statuses that may differ on another attempt. */
const MAY_PASS = new Set([408, 425, 429, 500, 502, 503, 504])
const TIMEOUT = 120 * SECOND
/** The timeout for a request or response with a file. The node's own `timeout_s` may be shorter. */
const FILE_TIMEOUT = 900 * SECOND
/** The main thread needs about 40 ms to parse JSON of this size. */
const MAX_BYTES = 5 * 1024 * 1024
const MAX_ERROR_BODY = 2_000

const without = (...names: string[]): JsonObject => ({ not: { anyOf: names.map((name) => ({ required: [name] })) } })

const scalar = { type: ['string', 'number', 'boolean', 'null'] }

export type HttpRequestDeps = {
  outgoing: Pick<Outgoing, 'request'>
  openCredential: OpenCredential
  takeRate: TakeRate
  files: Files
}

export const makeHttpRequest = ({ outgoing, openCredential, takeRate, files }: HttpRequestDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'http.request',
      kind: 'tool',
      group: 'tools',
      title: 'HTTP request',
      description:
        'Sends an HTTP request to an address on the public internet and reads the response. Unsafe methods send an Idempotency-Key that is the same on every attempt.',
      icon: 'globe',
      colour: '#4338ca',
      keywords: ['api', 'rest', 'webhook', 'fetch', 'url', 'get', 'post', 'json'],
      args_schema: fields(
        {
          method: {
            enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
            title: 'Method',
            default: 'GET',
          },
          url: { type: 'string', title: 'URL', minLength: 1, maxLength: 8_000 },
          credential_id: credentialField(),
          headers: {
            type: 'object',
            title: 'Headers',
            maxProperties: 50,
            additionalProperties: { type: ['string', 'number', 'boolean'] },
          },
          query: {
            type: 'object',
            title: 'Query',
            description: 'Appended to the URL. A list repeats the name; null omits it',
            maxProperties: 100,
            additionalProperties: { anyOf: [scalar, { type: 'array', items: scalar, maxItems: 100 }] },
          },
          json: { title: 'JSON body' },
          body: {
            title: 'Body',
            description: 'A text or a file',
            anyOf: [{ type: 'string', 'x-editor': 'text' }, fileSchema],
          },
          multipart: multipartSchema,
          response: {
            enum: ['auto', 'text', 'file'],
            title: 'Response',
            description:
              'auto: JSON, text or bytes, by content type. text: always text. file: stored as a file up to the size limit',
            default: 'auto',
          },
          ok_statuses: {
            type: 'array',
            title: 'Accepted statuses',
            description: 'Default: 2xx',
            items: { type: 'integer', minimum: 100, maximum: 599 },
            maxItems: 50,
          },
          paginate: paginateField,
          rate: rateField,
        },
        ['url'],
        {
          dependentSchemas: {
            json: without('body', 'multipart'),
            body: without('multipart'),
            // The items of a page are read from its body, and a file has no body value.
            paginate: { properties: { response: { enum: ['auto', 'text'] } } },
          },
        },
      ),
      output_schema: {
        type: 'object',
        properties: {
          status: { type: 'integer' },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          body: {
            description:
              'JSON where the answer says it is JSON, else text; {"base64"} for other content; null if empty; a file with response: file',
          },
          items: { type: 'array', description: 'With "paginate", instead of headers and body: the items of all pages' },
          pages: { type: 'integer', description: 'How many pages were fetched' },
          more: { type: 'boolean', description: 'Whether there are more pages than "max_pages"' },
        },
      },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { method: 'GET', url: 'https://example.com/' },
    },
    async run(call) {
      const { args, effectKey, signal, traceparent } = call
      const credential = await openNamed(openCredential, call, args.credential_id)
      const method = String(args.method ?? 'GET')
      const sent = await streamedBody(files, call)
      const send = async (wanted: JsonObject, key: string): Promise<JsonObject> => {
        await awaitRate(call, takeRate)
        let kept: Json | undefined
        const keepAnswer = (file: Json): void => {
          kept = file
        }
        const accepts = (status: number): boolean => isOk(args, status)
        const keep = args.response === 'file' ? savingAnswer(files, call, accepts, keepAnswer) : undefined
        const headers = headersOf(wanted, { traceparent, 'idempotency-key': UNSAFE.has(method) ? key : undefined })
        const answer = await outgoing
          .request({
            method,
            url: addressOf(wanted),
            headers: sent ? { 'content-type': sent.contentType, ...headers } : headers,
            body: sent?.body ?? bodyText(wanted),
            signal,
            timeoutMs: sent || keep ? FILE_TIMEOUT : TIMEOUT,
            ...(keep && { into: keep }),
            maxBytes: MAX_BYTES,
            ...(credential && { credential }),
          })
          .catch((error: unknown) => {
            if (!(error instanceof OutgoingFailure)) throw error
            throw new NodeFailure(error.code, error.message, { retryable: error.retryable })
          })
        if (!isOk(args, answer.status)) throw statusFailure(answer)
        const read = kept ?? (args.response === 'text' ? textOf : bodyOf)(answer, credential?.mask)
        return { status: answer.status, headers: answer.headers, body: read }
      }
      if (!isObject(args.paginate)) return { output: await send(args, effectKey) }
      return { output: await fetchPages(call, (wanted, page) => send(wanted, `${effectKey}:${page}`)) }
    },
  })

const bodyText = ({ json, body }: JsonObject): string | null =>
  json !== undefined ? JSON.stringify(json) : typeof body === 'string' ? body : null

const isOk = ({ ok_statuses }: JsonObject, status: number): boolean =>
  Array.isArray(ok_statuses) ? ok_statuses.includes(status) : status >= 200 && status < 300

/** Headers of the author take precedence over `given`. */
function headersOf(args: JsonObject, given: Record<string, string | undefined>): Record<string, string> {
  const headers: Record<string, string> = {}
  if (args.json !== undefined) headers['content-type'] = 'application/json'
  else if (typeof args.body === 'string') headers['content-type'] = 'text/plain; charset=utf-8'
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers[name] = value
  for (const [name, value] of Object.entries(isObject(args.headers) ? args.headers : {})) {
    if (name !== '__proto__') headers[name.toLowerCase()] = String(value)
  }
  return headers
}

function addressOf(args: JsonObject): string {
  const text = String(args.url)
  if (!isObject(args.query) || !URL.canParse(text)) return text
  const url = new URL(text)
  for (const [name, value] of Object.entries(args.query)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== null) url.searchParams.append(name, String(item))
  }
  return url.href
}

function statusFailure(answer: OutgoingResponse): NodeFailure {
  const retryAfter = answer.headers['retry-after']
  return new NodeFailure('http_status', `the target answered ${answer.status}`, {
    retryable: MAY_PASS.has(answer.status),
    retryAfterS: retryAfterS(retryAfter, answer.headers.date),
    details: {
      status: answer.status,
      body: answer.body.toString('utf8', 0, MAX_ERROR_BODY),
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    },
  })
}
