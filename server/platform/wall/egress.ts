import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as listen, type Socket } from 'node:net'
import { SECOND } from '#platform/clock'
import { checkDestination, type OutgoingCredential } from '#platform/outgoing/credential'
import { asOutgoingFailure, OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { generatedNamesIn, MAX_RECORDED_REQUEST } from './generated-names.ts'

// The only way out of the wall. Requests of the walled process arrive here as plain HTTP and are sent by the guarded
// client, which refuses targets that are not public, sends a credential only to its own hosts, adds the secret and
// masks the response.

export type WallOutgoing = Pick<Outgoing, 'request' | 'lookupFor' | 'checkLiteral' | 'isExempt'>

/** The permissions of one call. Between calls nothing is sent. */
export type CallPermissions = {
  credential: OutgoingCredential | undefined
  signal: AbortSignal
  /** The number of requests or connections that were sent. */
  sent: number
  /** The refused requests, in order. */
  refused: OutgoingFailure[]
  /** Called with each response before the walled process gets it. */
  witness?: RecordExchange | undefined
  /** Recorded responses that are returned in order. If present, nothing is sent. */
  replay?: RecordedExchange[] | undefined
  /**
   * While responses are replayed: words of the current requests, mapped to the words in their place in the original
   * requests.
   */
  invented: Map<string, string>
}

/**
 * The response of a target. The body is base64. `said` is the path and the text of the request, with placeholders,
 * unless it is too long.
 */
export type RecordedExchange = {
  method: string
  status: number
  headers: Record<string, string>
  body: string
  said?: string
}
export type RecordExchange = (exchanged: RecordedExchange) => Promise<void>

export type Egress = {
  open(passage: CallPermissions): void
  /** Ends everything that is still in progress. */
  shut(): void
  close(): Promise<void>
}

const MAX_BYTES = 25 * 1024 * 1024
const MAX_CONNECTIONS = 64
const MAX_REQUESTS = 1_000
const MAX_CARRIED = 256 * 1024 * 1024
const TIMEOUT = 120 * SECOND
const FIRST_LINE = /^(https?|tcp) ([A-Za-z0-9_.:[\]-]{1,255}) (\d{1,5})$/
const MAX_LINE = 300

/** Headers that the sending client sets itself. */
const NOT_FORWARDED = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
])
/** Headers that no longer apply, because the body arrives here decoded and complete. */
const NOT_RETURNED = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'])

type Target = { scheme: string; host: string; port: number }

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

export function openEgress(outgoing: WallOutgoing, socket: string): Promise<Egress> {
  let passage: CallPermissions | undefined
  const sockets = new Set<Socket>()
  const targets = new WeakMap<object, Target>()

  const http = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const target = targets.get(request.socket)
    if (!target || !passage) request.socket.destroy()
    else void forward(outgoing, passage, target, request, response)
  })
  http.on('clientError', (_error, inner) => inner.destroy())

  const front = listen((inner) => {
    inner.on('error', () => inner.destroy())
    inner.on('close', () => sockets.delete(inner))
    if (!passage || sockets.size >= MAX_CONNECTIONS) {
      inner.destroy()
      return
    }
    sockets.add(inner)
    readTarget(inner, (target) => {
      if (!passage) inner.destroy()
      else if (target.scheme === 'tcp') carry(outgoing, passage, target, inner)
      else {
        targets.set(inner, target)
        http.emit('connection', inner)
      }
    })
  })

  const shut = (): void => {
    passage = undefined
    for (const inner of sockets) inner.destroy()
  }
  return new Promise((resolve, reject) => {
    front.once('error', reject)
    front.listen(socket, () => {
      front.unref()
      resolve({
        open: (next) => {
          passage = next
        },
        shut,
        close: () =>
          new Promise((done) => {
            shut()
            http.closeAllConnections()
            front.close(() => done())
          }),
      })
    })
  })
}

function readTarget(inner: Socket, then: (target: Target) => void): void {
  let held = Buffer.alloc(0)
  const take = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk])
    const end = held.indexOf(10)
    if (end === -1 && held.length <= MAX_LINE) return
    inner.off('data', take)
    inner.pause()
    const [, scheme, host, port] = FIRST_LINE.exec(held.toString('latin1', 0, Math.max(end, 0))) ?? []
    if (scheme === undefined || host === undefined || Number(port) > 65_535) {
      inner.destroy()
      return
    }
    const rest = held.subarray(end + 1)
    if (rest.length > 0) inner.unshift(rest)
    then({ scheme, host: host.toLowerCase(), port: Number(port) })
    inner.resume()
  }
  inner.on('data', take)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new OutgoingFailure('request_invalid', `a request may have at most ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !NOT_FORWARDED.has(name)) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return headers
}

async function forward(
  outgoing: WallOutgoing,
  passage: CallPermissions,
  { scheme, host, port }: Target,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let counted = 0
  try {
    if (!request.url?.startsWith('/'))
      throw new OutgoingFailure('request_invalid', 'the address of a request must have a path')
    if (passage.sent >= MAX_REQUESTS)
      throw new OutgoingFailure('request_invalid', `a call may send at most ${MAX_REQUESTS} requests`)
    const body = await bodyOf(request)
    counted = 1
    passage.sent += counted
    const method = request.method ?? 'GET'
    const said = body.length > MAX_RECORDED_REQUEST ? undefined : `${request.url} ${body.toString()}`
    if (passage.replay) {
      const next = nextOf(passage.replay, method)
      for (const [now, then] of generatedNamesIn(next.said ?? '', said ?? '')) passage.invented.set(now, then)
      answerWith(response, method, { ...next, body: Buffer.from(next.body, 'base64') })
      return
    }
    const answer = await outgoing.request({
      method,
      url: `${scheme}://${bracketed(host)}:${port}${request.url}`,
      headers: headersOf(request),
      body: body.length === 0 ? null : body,
      signal: passage.signal,
      timeoutMs: TIMEOUT,
      maxBytes: MAX_BYTES,
      // The walled process follows redirects, so that each hop passes here again.
      redirects: false,
      ...(passage.credential && { credential: passage.credential }),
    })
    const { status, headers } = answer
    const answered = { method, status, headers, body: answer.body.toString('base64') }
    await passage.witness?.({ ...answered, ...(said !== undefined && { said }) })
    answerWith(response, method, answer)
  } catch (error) {
    const failure = asOutgoingFailure(error)
    if (NOT_SENT.has(failure.code)) passage.sent -= counted
    if (NOT_SENT.has(failure.code) || NOT_RENEWED.has(failure.code)) passage.refused.push(failure)
    if (response.headersSent) response.destroy()
    else {
      response.writeHead(502, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: failure.code, message: failure.message }))
    }
  }
}

type Answer = { status: number; headers: Record<string, string>; body: Buffer }

function answerWith(response: ServerResponse, method: string, { status, headers, body }: Answer): void {
  const returned = Object.entries(headers).filter(([name]) => !NOT_RETURNED.has(name))
  response.writeHead(status, Object.fromEntries(returned.map(([name, value]) => [name, latin(value)])))
  response.end(method === 'HEAD' ? undefined : body)
}

/** Returns the recorded response to the current request. Refuses a request that has none. */
function nextOf(replay: RecordedExchange[], method: string): RecordedExchange {
  const [next] = replay
  if (next?.method !== method)
    throw new OutgoingFailure('request_invalid', 'no requests are sent while recorded responses are repeated')
  replay.shift()
  return next
}

const NOT_SENT: ReadonlySet<string> = new Set([
  'target_refused',
  'target_unresolved',
  'credential_refused',
  'request_invalid',
])

/** The vendor refused the token, and there is no newer one. A person must know this reason, not only the 401. */
const NOT_RENEWED: ReadonlySet<string> = new Set(['credential_needs_reconnect', 'credential_refresh_failed'])

/** Replaces the mask, which contains characters that a header cannot contain. */
const latin = (value: string): string => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '*')

/**
 * Forwards a raw connection, for drivers that have the secret themselves. Connects only to the hosts of the credential.
 */
function carry(outgoing: WallOutgoing, passage: CallPermissions, { host, port }: Target, inner: Socket): void {
  try {
    const { credential } = passage
    if (!credential)
      throw new OutgoingFailure(
        'credential_refused',
        'a connection to a database needs a credential that names its host',
      )
    checkDestination(credential, new URL(`https://${bracketed(host)}:${port}`), outgoing)
    outgoing.checkLiteral(host, port)
  } catch (error) {
    passage.refused.push(asOutgoingFailure(error))
    inner.destroy()
    return
  }
  passage.sent += 1
  const outer = connect({ host, port, lookup: outgoing.lookupFor(host, port) })
  let carried = 0
  const count = (chunk: Buffer): void => {
    carried += chunk.length
    if (carried > MAX_CARRIED) inner.destroy()
  }
  outer.on('data', count)
  inner.on('data', count)
  outer.on('error', (error) => {
    if (error instanceof OutgoingFailure) passage.refused.push(error)
    inner.destroy()
  })
  outer.on('close', () => inner.destroy())
  inner.on('close', () => outer.destroy())
  inner.pipe(outer).pipe(inner)
}
