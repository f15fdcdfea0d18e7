import { SECOND } from '#platform/clock'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { OutgoingFailure } from '#platform/outgoing/failure'
import { ChannelFailure, MAX_ATTACHMENT_BYTES } from './index.ts'

// Sends one request to a vendor's API. The text of an error response is not passed on, because it may contain the
// token.

const TIMEOUT = 15 * SECOND
const LARGEST_ANSWER = 256 * 1024

/** The token is sent only to the vendor's own host: redirects are not followed. */
const send = makeBoundedFetch({ maxBytes: LARGEST_ANSWER, timeoutMs: TIMEOUT })

export type VendorAnswer = { status: number; body: Record<string, unknown> }

export async function callVendor(request: {
  vendor: string
  url: string
  headers?: Record<string, string>
  /** If absent, the request is a GET without a body. */
  body?: unknown
  method?: 'POST' | 'PATCH'
  signal: AbortSignal | undefined
}): Promise<VendorAnswer> {
  const { vendor } = request
  let response: Response
  let text: string
  try {
    response = await send(request.url, {
      ...(request.body === undefined
        ? { method: 'GET', headers: { ...request.headers } }
        : {
            method: request.method ?? 'POST',
            headers: { 'content-type': 'application/json', ...request.headers },
            body: JSON.stringify(request.body),
          }),
      signal: request.signal ?? null,
    })
    text = await response.text()
  } catch (cause) {
    request.signal?.throwIfAborted()
    throw new ChannelFailure('unavailable', `${vendor} cannot be reached`, { cause: nameOf(cause) })
  }
  const body = parse(text)
  if (response.status === 429) throw rateLimited(vendor, retryAfterOf(response, body))
  if (response.status >= 500)
    throw new ChannelFailure('unavailable', `${vendor} answered with status ${response.status}`)
  return { status: response.status, body }
}

const FILE_TIMEOUT = 60 * SECOND
const sendForFile = makeBoundedFetch({ maxBytes: MAX_ATTACHMENT_BYTES, timeoutMs: FILE_TIMEOUT })

/**
 * Returns the bytes at an address of the vendor. Checks the host first, so that the token is sent only to the vendor's
 * own hosts.
 */
export async function fetchVendorFile(request: {
  vendor: string
  url: string
  hosts: (RegExp | string)[]
  headers?: Record<string, string>
  signal: AbortSignal
}): Promise<AsyncIterable<Buffer>> {
  const { vendor, url, signal } = request
  const { host = '', protocol = '' } = URL.canParse(url) ? new URL(url) : {}
  const isOwn = request.hosts.some((own) =>
    typeof own === 'string' ? own === host : protocol === 'https:' && own.test(host),
  )
  if (!isOwn) throw new ChannelFailure('refused', `The file is not on a host of ${vendor}`)
  let response: Response
  try {
    response = await sendForFile(url, { headers: { ...request.headers }, signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw new ChannelFailure('unavailable', `${vendor} cannot be reached`, { cause: nameOf(cause) })
  }
  const { status } = response
  if (status === 429) throw rateLimited(vendor, retryAfterOf(response, {}))
  if (status !== 200 || response.body === null)
    throw new ChannelFailure(status >= 500 ? 'unavailable' : 'refused', `${vendor} answered with status ${status}`)
  return chunksOf(vendor, response.body)
}

async function* chunksOf(vendor: string, body: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield Buffer.from(chunk)
  } catch (cause) {
    if (cause instanceof OutgoingFailure && cause.code === 'response_too_large')
      throw new ChannelFailure('refused', 'The file is larger than 25 MiB')
    throw new ChannelFailure('unavailable', `${vendor} closed the connection early`, { cause: nameOf(cause) })
  }
}

export const hostOf = (address: string): string => new URL(address).host

export const rateLimited = (vendor: string, retryAfterS: number): ChannelFailure =>
  new ChannelFailure('rate_limited', `${vendor} refuses more messages at the moment`, {
    retryAfterS: Math.min(retryAfterS, 3600),
  })

/** Returns only the name of the error: its message can contain the address, and the address can contain the token. */
const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : 'unknown')

function retryAfterOf(response: Response, body: Record<string, unknown>): number {
  const parameters = body.parameters as { retry_after?: unknown } | undefined
  const said = [response.headers.get('retry-after'), body.retry_after, parameters?.retry_after]
  const seconds = said.map(Number).filter((value) => Number.isFinite(value) && value > 0)
  return seconds.length === 0 ? 1 : Math.max(...seconds)
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
