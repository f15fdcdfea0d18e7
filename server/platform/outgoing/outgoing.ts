// The one client through which requests to addresses chosen by tenants leave. The operator's own services (database,
// language model, mail server) are reached by clients of their own.

import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici'
import { asOutgoingFailure, OutgoingFailure } from './failure.ts'
import { type Guard, makeGuard, type Resolve } from './guard.ts'
import { firstHop, type Hop, isRedirect, MAX_REDIRECTS, nextHop, portOf } from './hops.ts'

export type OutgoingRequest = {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: string | Buffer | null
  signal?: AbortSignal
  /** For everything together: look-up, redirects, and the last byte of the answer. */
  timeoutMs?: number
  /** Of the answer, after decompression. */
  maxBytes?: number
}

export type OutgoingResponse = { status: number; headers: Record<string, string>; body: Buffer; url: string }

export type Outgoing = {
  request(request: OutgoingRequest): Promise<OutgoingResponse>
  /** For libraries that want a `fetch`: the same guard, redirects and limits; the body is streamed. */
  fetch: typeof globalThis.fetch
  /** Throws OutgoingFailure `target_refused` or `target_unresolved`; answers with the addresses that may be dialled. */
  resolveTarget: Guard['resolveTarget']
  /** A `lookup` for `net.connect` that refuses what is not public, save for this host and port where exempt. */
  lookupFor: Guard['lookupFor']
  checkLiteral: Guard['checkLiteral']
  close(): Promise<void>
}

export type OutgoingOptions = { allowTargets: readonly string[]; resolve?: Resolve }

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024
const CONNECT_TIMEOUT_MS = 10_000

export function makeOutgoing(options: OutgoingOptions): Outgoing {
  const guard = makeGuard(options.allowTargets, options.resolve)
  const agent = new Agent({
    connect: makeConnector(guard),
    connections: 64,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    maxHeaderSize: 32 * 1024,
  })

  const open = async (first: Hop, signal: AbortSignal, timeoutMs: number) => {
    let hop = first
    for (let redirects = 0; ; redirects += 1) {
      guard.checkLiteral(hop.url.hostname, portOf(hop.url))
      const answer = await send(hop.url, {
        dispatcher: agent,
        method: hop.method as Dispatcher.HttpMethod,
        headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'heddle', ...hop.headers },
        body: hop.body,
        signal,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      })
      const location = answer.headers.location
      if (!isRedirect(answer.statusCode) || typeof location !== 'string') return { hop, answer }
      answer.body.on('error', () => {}).destroy()
      if (redirects >= MAX_REDIRECTS) {
        throw new OutgoingFailure('too_many_redirects', `the target redirects more than ${MAX_REDIRECTS} times`)
      }
      hop = nextHop(hop, answer.statusCode, location)
    }
  }

  return {
    async request(request) {
      const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS
      const signal = withTimeout(timeoutMs, request.signal)
      try {
        const { hop, answer } = await open(firstHop(request), signal, timeoutMs)
        const body = await readBody(answer, hop.method, request.maxBytes ?? DEFAULT_MAX_BYTES)
        return { status: answer.statusCode, headers: flatten(answer.headers), body, url: hop.url.href }
      } catch (error) {
        request.signal?.throwIfAborted()
        throw asOutgoingFailure(error)
      }
    },
    async fetch(input, init) {
      const request = new Request(input, init)
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer())
      const headers = Object.fromEntries(request.headers)
      const signal = withTimeout(10 * DEFAULT_TIMEOUT_MS, request.signal)
      try {
        const first = firstHop({ method: request.method, url: request.url, headers, body })
        const { hop, answer } = await open(first, signal, DEFAULT_TIMEOUT_MS)
        return toResponse(answer, hop)
      } catch (error) {
        request.signal.throwIfAborted()
        throw asOutgoingFailure(error)
      }
    },
    resolveTarget: guard.resolveTarget,
    lookupFor: guard.lookupFor,
    checkLiteral: guard.checkLiteral,
    close: () => agent.close(),
  }
}

const withTimeout = (timeoutMs: number, signal: AbortSignal | undefined): AbortSignal =>
  signal ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) : AbortSignal.timeout(timeoutMs)

/** The connector, not the look-up alone: for an address literal the library never calls the look-up. */
function makeConnector(guard: Guard): buildConnector.connector {
  const guarded = buildConnector({ lookup: guard.lookup, timeout: CONNECT_TIMEOUT_MS, allowH2: false })
  const exempt = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false })
  return (target, callback) => {
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
    try {
      guard.checkLiteral(target.hostname, port)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    if (guard.isExempt(target.hostname, port)) exempt(target, callback)
    else guarded(target, callback)
  }
}

type Answer = Pick<Dispatcher.ResponseData, 'headers' | 'body' | 'statusCode'>

/** The answer decompressed and counted as it comes: a bomb is cut off, not unpacked. */
async function readBody(answer: Answer, method: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const stream = decoded(answer, method)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) {
        throw new OutgoingFailure('response_too_large', `the answer is larger than ${maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/.test(String(error.code))) {
      throw new OutgoingFailure('response_unreadable', 'the answer is not compressed as it says', error)
    }
    throw error
  } finally {
    answer.body.on('error', () => {}).destroy()
  }
  return Buffer.concat(chunks)
}

function decoded(answer: Answer, method: string): Readable {
  const encoding = String(answer.headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  const hasBody = method !== 'HEAD' && answer.statusCode !== 204 && answer.statusCode !== 304
  if (encoding === '' || encoding === 'identity' || !hasBody) return answer.body
  const decoder = makeDecoder(encoding)
  if (!decoder) throw new OutgoingFailure('response_unreadable', `the answer is encoded as "${encoding.slice(0, 40)}"`)
  answer.body.on('error', (error) => decoder.destroy(error))
  return answer.body.pipe(decoder)
}

function makeDecoder(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      return undefined
  }
}

function flatten(headers: Answer['headers']): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && name !== '__proto__') flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function toResponse(answer: Answer, hop: Hop): Response {
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = flatten(answer.headers)
  const empty = hop.method === 'HEAD' || [204, 205, 304].includes(answer.statusCode)
  if (empty) answer.body.on('error', () => {}).destroy()
  const stream = empty ? null : limited(decoded(answer, hop.method), DEFAULT_MAX_BYTES)
  const response = new Response(stream, { status: answer.statusCode, headers })
  Object.defineProperty(response, 'url', { value: hop.url.href })
  return response
}

function limited(source: Readable, maxBytes: number): ReadableStream<Uint8Array> {
  async function* counted() {
    let size = 0
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes)
        throw new OutgoingFailure('response_too_large', `the answer is larger than ${maxBytes} bytes`)
      yield new Uint8Array(chunk)
    }
  }
  return Readable.toWeb(Readable.from(counted())) as ReadableStream<Uint8Array>
}
