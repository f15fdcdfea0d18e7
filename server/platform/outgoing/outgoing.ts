// The only client for requests to addresses that tenants choose. The operator's own services (database, language model,
// mail server) have their own clients.

import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { type Library, makeAgent } from './agent.ts'
import { checkDestination, type OutgoingCredential } from './credential.ts'
import { asOutgoingFailure, OutgoingFailure } from './failure.ts'
import { type Guard, makeGuard } from './guard.ts'
import { type HeldResponses, makeHeldResponses } from './held.ts'
import { firstHop, type Hop, isRedirect, MAX_REDIRECTS, nextHop, portOf, type StreamedBody } from './hops.ts'
import { bothMasks, MASK, type Mask } from './mask.ts'
import { withOneResend } from './resend.ts'
import type { Resolve } from './resolve.ts'

export type OutgoingRequest = {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: string | Buffer | StreamedBody | null
  signal?: AbortSignal
  /** The timeout for the whole exchange: lookup, redirects, and the last byte of the response. */
  timeoutMs?: number
  /** The maximum size of the response, after decompression. */
  maxBytes?: number
  /** Truncates a longer response instead of refusing it. */
  cut?: true
  /**
   * Called when the response starts. If it returns a function, that function gets the body in pieces, and `body` is
   * empty.
   */
  into?: (answer: Omit<OutgoingResponse, 'body'>) => ((chunks: AsyncIterable<Buffer>) => Promise<void>) | undefined
  /** Returns a redirect as the response instead of following it. */
  redirects?: false
  /** Added at the last moment. The response is masked. */
  credential?: OutgoingCredential
}

/** Thrown by `into` if the reason is not the target. The caller gets the original cause. */
export class NotTaken extends Error {
  constructor(cause: unknown) {
    super('the response was not read', { cause })
  }
}

export type OutgoingResponse = { status: number; headers: Record<string, string>; body: Buffer; url: string }

export type Outgoing = {
  request(request: OutgoingRequest): Promise<OutgoingResponse>
  /** A `fetch` for libraries, with the same guard, redirects and limits. The body is streamed. */
  fetch: typeof globalThis.fetch
  /** Returns a `fetch` that sends the credential and masks the response. */
  fetchWith(credential: OutgoingCredential | undefined, options?: { timeoutMs: number }): typeof globalThis.fetch
  /** Returns the addresses that may be connected. Throws OutgoingFailure `target_refused` or `target_unresolved`. */
  resolveTarget: Guard['resolveTarget']
  /**
   * Returns a `lookup` for `net.connect` that refuses addresses that are not public, unless this host and port are
   * exempt.
   */
  lookupFor: Guard['lookupFor']
  checkLiteral: Guard['checkLiteral']
  /** Checks whether the operator allows this target although it is not public. */
  isExempt: Guard['isExempt']
  close(): Promise<void>
}

export type OutgoingOptions = { allowTargets: readonly string[]; resolve?: Resolve; held?: HeldResponses }

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024

let loading: Promise<Library> | undefined

/**
 * Loads the library with the first outgoing request: it is a tenth of the program's code, and startup does not need it.
 */
// Uses the default export, because the module has no other exports in the built program.
const loadLibrary = (): Promise<Library> =>
  (loading ??= import('undici').then((module) => module.default as unknown as Library))

export function makeOutgoing(options: OutgoingOptions): Outgoing {
  const guard = makeGuard(options.allowTargets, options.resolve)
  const held = options.held ?? makeHeldResponses()
  let agent: Agent | undefined

  const open = async (
    first: Hop,
    signal: AbortSignal,
    { timeoutMs, maxRedirects }: Bounds,
    credential?: OutgoingCredential,
  ) => {
    if (credential) checkDestination(credential, first.url, guard)
    const library = await loadLibrary()
    agent ??= makeAgent(library, guard)
    const certified = credential?.clientCertificate && makeAgent(library, guard, credential.clientCertificate)
    let hop = first
    let hasLeft = false
    try {
      for (let redirects = 0; ; redirects += 1) {
        guard.checkLiteral(hop.url.hostname, portOf(hop.url))
        // A redirect to another origin is followed without the credential. So is a redirect from there back to the
        // first origin: otherwise the other origin would choose what is requested with the credential.
        hasLeft ||= hop.url.origin !== first.url.origin
        const carries = credential !== undefined && !hasLeft
        const sent = carries ? credential.apply(hop) : hop
        const dispatcher = (carries && certified) || agent
        const answer = await withOneResend(sent, () =>
          library.request(sent.url, {
            dispatcher,
            method: sent.method as Dispatcher.HttpMethod,
            headers: {
              'accept-encoding': 'gzip, deflate, br',
              'user-agent': 'heddle',
              ...sent.headers,
              ...lengthOf(sent.body),
            },
            body: bodyToSend(sent.body),
            signal,
            headersTimeout: timeoutMs,
            bodyTimeout: timeoutMs,
          }),
        )
        const location = answer.headers.location
        if (!isRedirect(answer.statusCode) || typeof location !== 'string' || maxRedirects === 0)
          return { hop, answer, hasLeft }
        answer.body.on('error', () => {}).destroy()
        if (redirects >= maxRedirects) {
          throw new OutgoingFailure('too_many_redirects', `the target redirects more than ${maxRedirects} times`)
        }
        // The location is masked before it is followed, so that a service that repeats the secret in the address does
        // not send it elsewhere.
        hop = nextHop(hop, answer.statusCode, credential?.mask.text(location) ?? location)
      }
    } finally {
      // Closes when the response has been read.
      void certified?.close()
    }
  }

  /** Sends the request once, and once more if a 401 shows that the secret is outdated and there is a newer one. */
  const exchange = async (
    first: Hop,
    signal: AbortSignal,
    bounds: Bounds,
    credential?: OutgoingCredential,
  ): Promise<{ hop: Hop; answer: Answer; mask?: Mask | undefined }> => {
    const opened = await open(first, signal, bounds, credential)
    if (opened.answer.statusCode !== 401 || !credential?.renew || opened.hasLeft)
      return { ...opened, mask: credential?.mask }
    const close = (): void => void opened.answer.body.on('error', () => {}).destroy()
    const renewed = await credential.renew().catch((error: unknown) => {
      close()
      throw error
    })
    if (renewed === undefined) return { ...opened, mask: credential.mask }
    close()
    return { ...(await open(first, signal, bounds, renewed)), mask: bothMasks(credential.mask, renewed.mask) }
  }

  const fetchWith = (
    credential?: OutgoingCredential,
    { timeoutMs } = { timeoutMs: DEFAULT_TIMEOUT_MS },
  ): typeof globalThis.fetch => {
    return async (input, init) => {
      const request = new Request(input, init)
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer())
      const headers = Object.fromEntries(request.headers)
      const signal = withTimeout(10 * DEFAULT_TIMEOUT_MS, request.signal)
      try {
        const first = firstHop({ method: request.method, url: request.url, headers, body })
        const bounds = { timeoutMs, maxRedirects: MAX_REDIRECTS }
        const { hop, answer, mask } = await exchange(first, signal, bounds, credential)
        return toResponse(answer, hop, mask)
      } catch (error) {
        request.signal.throwIfAborted()
        throw failureOf(error, credential)
      }
    }
  }

  return {
    async request(request) {
      const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS
      const signal = withTimeout(timeoutMs, request.signal)
      const { credential } = request
      try {
        const bounds = { timeoutMs, maxRedirects: request.redirects === false ? 0 : MAX_REDIRECTS }
        const { hop, answer, mask } = await exchange(firstHop(request), signal, bounds, credential)
        const headers = flatten(answer.headers, mask)
        const status = answer.statusCode
        const take = request.into?.({ status, headers, url: mask?.text(hop.url.href) ?? hop.url.href })
        if (take) {
          const stream = decoded(answer, hop.method)
          try {
            await take(mask?.chunks(stream) ?? (stream as AsyncIterable<Buffer>))
          } finally {
            answer.body.on('error', () => {}).destroy()
          }
          return { status, headers, body: Buffer.alloc(0), url: mask?.text(hop.url.href) ?? hop.url.href }
        }
        const body = await readBody(answer, hop.method, held, request.maxBytes ?? DEFAULT_MAX_BYTES, request.cut)
        if (mask === undefined) return { status: answer.statusCode, headers, body, url: hop.url.href }
        return { status: answer.statusCode, headers, body: mask.bytes(body), url: mask.text(hop.url.href) }
      } catch (error) {
        if (error instanceof NotTaken) throw error.cause
        request.signal?.throwIfAborted()
        throw failureOf(error, credential)
      }
    },
    fetch: fetchWith(),
    fetchWith,
    resolveTarget: guard.resolveTarget,
    lookupFor: guard.lookupFor,
    checkLiteral: guard.checkLiteral,
    isExempt: guard.isExempt,
    close: async () => agent?.close(),
  }
}

/** Removes the cause of a failure with a credential, because the cause may contain the request. */
function failureOf(error: unknown, credential: OutgoingCredential | undefined): OutgoingFailure {
  if (credential === undefined) return asOutgoingFailure(error)
  const { code, message } = asOutgoingFailure(error)
  return new OutgoingFailure(code, credential.mask.text(message))
}

const isStreamed = (body: Hop['body']): body is StreamedBody =>
  body !== null && typeof body === 'object' && !Buffer.isBuffer(body)

const lengthOf = (body: Hop['body']): Record<string, string> =>
  isStreamed(body) ? { 'content-length': String(body.bytes) } : {}

const bodyToSend = (body: Hop['body']): string | Buffer | Readable | null =>
  isStreamed(body) ? Readable.from(body.chunks(), { objectMode: false }) : body

type Bounds = { timeoutMs: number; maxRedirects: number }

const withTimeout = (timeoutMs: number, signal: AbortSignal | undefined): AbortSignal =>
  signal ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) : AbortSignal.timeout(timeoutMs)

type Answer = Pick<Dispatcher.ResponseData, 'headers' | 'body' | 'statusCode'>

/** Decompresses and counts the response while it arrives, so that a decompression bomb is cut off. */
async function readBody(
  answer: Answer,
  method: string,
  held: HeldResponses,
  maxBytes: number,
  cut = false,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const stream = decoded(answer, method)
  const inMemory = held.begin((error) => stream.destroy(error))
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      inMemory.add(chunk.length)
      if (size > maxBytes && cut) {
        chunks.push(chunk.subarray(0, chunk.length - (size - maxBytes)))
        break
      }
      if (size > maxBytes) {
        throw new OutgoingFailure('response_too_large', `the answer is larger than ${maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/.test(String(error.code))) {
      throw new OutgoingFailure(
        'response_unreadable',
        'the response is not compressed as its Content-Encoding says',
        error,
      )
    }
    throw error
  } finally {
    inMemory.end()
    answer.body.on('error', () => {}).destroy()
  }
  return Buffer.concat(chunks)
}

function decoded(answer: Answer, method: string): Readable {
  const encoding = String(answer.headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  const hasBody =
    method !== 'HEAD' &&
    answer.statusCode !== 204 &&
    answer.statusCode !== 304 &&
    answer.headers['content-length'] !== '0'
  if (encoding === '' || encoding === 'identity' || !hasBody) return answer.body
  const decoder = makeDecoder(encoding)
  if (!decoder) throw new OutgoingFailure('response_unreadable', `the answer is encoded as "${encoding.slice(0, 40)}"`)
  answer.body.on('error', (error) => decoder.destroy(error))
  // Destroying a decoder does not end its source.
  decoder.on('close', () => answer.body.destroy())
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

function flatten(headers: Answer['headers'], mask?: Mask): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === '__proto__') continue
    const text = Array.isArray(value) ? value.join(', ') : value
    flat[mask?.text(name) ?? name] = mask?.text(text) ?? text
  }
  return flat
}

/** A header cannot contain characters beyond Latin-1, such as the mask. */
const asHeader = (value: string): string => value.replaceAll(MASK, '***')

function toResponse(answer: Answer, hop: Hop, mask: Mask | undefined): Response {
  const { 'content-encoding': _encoding, 'content-length': _length, ...flat } = flatten(answer.headers, mask)
  const headers = mask ? Object.fromEntries(Object.entries(flat).map((pair) => pair.map(asHeader))) : flat
  const empty = hop.method === 'HEAD' || [204, 205, 304].includes(answer.statusCode)
  if (empty) answer.body.on('error', () => {}).destroy()
  const stream = empty ? null : limited(decoded(answer, hop.method), DEFAULT_MAX_BYTES, mask)
  const response = new Response(stream, { status: answer.statusCode, headers })
  Object.defineProperty(response, 'url', { value: mask?.text(hop.url.href) ?? hop.url.href })
  return response
}

function limited(source: Readable, maxBytes: number, mask: Mask | undefined): ReadableStream<Uint8Array> {
  async function* counted() {
    let size = 0
    for await (const chunk of mask?.chunks(source) ?? (source as AsyncIterable<Buffer>)) {
      size += chunk.length
      if (size > maxBytes)
        throw new OutgoingFailure('response_too_large', `the answer is larger than ${maxBytes} bytes`)
      yield new Uint8Array(chunk)
    }
  }
  return Readable.toWeb(Readable.from(counted())) as ReadableStream<Uint8Array>
}
