import { type Operations, operations } from './operations.generated.ts'
import { ConnectionFailed, HeddleProblem } from './problems.ts'
import { send } from './send.ts'
import { type Draft, followAnswer } from './streams.ts'

// A typed client without dependencies, for browsers, Node.js, Deno and Bun: `heddle.createTeam({ name: 'Finance' })`.

export type ClientOptions = {
  /** The address of the service. Not required on the service's own pages. */
  baseUrl?: string
  /** An API key (`hk_…`), a webhook token or an embed token. Without a token, a browser uses the session cookie. */
  token?: string
  workspaceId?: string
  fetch?: typeof fetch
  /** The number of retries after 429, 500, 502, 503, 504, a timeout or a lost connection. The default is 2. */
  retries?: number
  /** The timeout for the response of each attempt, in ms. The default is 60,000; 0 means no timeout. */
  timeoutMs?: number
}

export type CallOptions = {
  signal?: AbortSignal
  /**
   * Makes a POST safe to repeat: the same key returns the same response. With a `token`, every POST gets a key
   * automatically.
   */
  idempotencyKey?: string
  /** Refuses the change if the resource no longer has this ETag. */
  ifMatch?: string
  /** With `detailed`: returns no data if the resource still has this ETag. */
  ifNoneMatch?: string
  workspaceId?: string
  timeoutMs?: number
  headers?: Record<string, string>
}

type Input<Name extends keyof Operations> = Operations[Name]['input']
type Arguments<Name extends keyof Operations> = Operations[Name]['required'] extends true
  ? [input: Input<Name>, options?: CallOptions]
  : [input?: Input<Name>, options?: CallOptions]

/** The response with the information of its headers. `data` is undefined after 304. */
export type Detailed<Answer> = {
  data: Answer
  status: number
  etag: string | null
  location: string | null
  /** True if this is the response to an earlier request with the same idempotency key. */
  replayed: boolean
  headers: Headers
}

export type Calls = { [Name in keyof Operations]: (...given: Arguments<Name>) => Promise<Operations[Name]['answer']> }
export type DetailedCalls = {
  [Name in keyof Operations]: (...given: Arguments<Name>) => Promise<Detailed<Operations[Name]['answer'] | undefined>>
}
export type Client = Calls & {
  readonly options: ClientOptions
  /** The same calls, with status, ETag and headers of the response. */
  readonly detailed: DetailedCalls
  /**
   * Calls an operation that can stream, such as `chatWithWidget` and `postThreadMessage`. `onText` receives the text
   * written so far. A lost connection is resumed; the promise resolves with the complete answer.
   */
  stream<Name extends keyof Operations>(
    name: Name,
    input: Input<Name>,
    options: CallOptions & { onText(text: string): void },
  ): Promise<Operations[Name]['answer']>
  with(more: ClientOptions): Client
}

const DEFAULT_RETRIES = 2
const DEFAULT_TIMEOUT_MS = 60_000
const REPEATABLE = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

type Name = keyof Operations
type Given = Record<string, unknown>

/** Separates the parameters of the path and the query from the input; the rest is the body. */
function splitInput(name: Name, given: Given): { path: string; rest: Given } {
  const [, path, queryNames = []] = operations[name]
  const rest = { ...given }
  const take = (parameter: string): unknown => {
    const value = rest[parameter]
    delete rest[parameter]
    return value
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(String(take(parameter))))
  const query = new URLSearchParams()
  for (const parameter of queryNames) {
    const value = take(parameter)
    if (value !== undefined && value !== null) query.set(parameter, String(value))
  }
  return { path: query.size > 0 ? `${filled}?${query}` : filled, rest }
}

const isBody = (value: unknown): value is BodyInit =>
  typeof value === 'string' ||
  value instanceof Blob ||
  value instanceof FormData ||
  value instanceof ArrayBuffer ||
  ArrayBuffer.isView(value)

/** JSON would write a stream as `{}` or as its settings, and that would be stored as the content of the file. */
function refuseStream(value: unknown): void {
  const isStream =
    typeof value === 'object' && value !== null && ('getReader' in value || Symbol.asyncIterator in value)
  if (isStream)
    throw new TypeError(
      'The body is a stream. Send bytes, a text, a Blob or FormData; in Node, openAsBlob(path) of node:fs reads a file.',
    )
}

function bodyOf(name: Name, rest: Given): { body: BodyInit; json: boolean } | undefined {
  const [method, , , raw] = operations[name]
  if (raw && isBody(rest.body)) return { body: rest.body, json: false }
  if (raw) refuseStream(rest.body)
  const value = raw ? (rest.body ?? (Object.keys(rest).length > 0 ? rest : undefined)) : rest
  if (value === undefined || (!raw && (method === 'GET' || Object.keys(rest).length === 0))) return undefined
  return { body: JSON.stringify(value), json: true }
}

async function call(name: Name, given: Given, client: ClientOptions, options: CallOptions): Promise<Response> {
  const [method] = operations[name]
  const { path, rest } = splitInput(name, given)
  const content = bodyOf(name, rest)
  const key = options.idempotencyKey ?? (method === 'POST' && client.token ? crypto.randomUUID() : undefined)
  const workspaceId = options.workspaceId ?? client.workspaceId
  const headers = new Headers(options.headers)
  const set = (header: string, value: string | undefined): void => void (value && headers.set(header, value))
  set('authorization', client.token && `Bearer ${client.token}`)
  set('x-workspace-id', workspaceId)
  set('idempotency-key', key)
  set('if-match', options.ifMatch)
  set('if-none-match', options.ifNoneMatch)
  if (content?.json) set('content-type', 'application/json')
  return send({
    url: (client.baseUrl ?? '').replace(/\/+$/, '') + path,
    init: {
      method,
      headers,
      ...(content && { body: content.body }),
      credentials: client.token ? 'omit' : 'same-origin',
    },
    repeatable: REPEATABLE.has(method) || key !== undefined,
    retries: client.retries ?? DEFAULT_RETRIES,
    timeoutMs: options.timeoutMs ?? client.timeoutMs ?? DEFAULT_TIMEOUT_MS + 1000 * Number(given.wait_s ?? 0),
    signal: options.signal,
    fetch: client.fetch ?? fetch,
  })
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204 || response.status === 304) return undefined
  const type = response.headers.get('content-type') ?? ''
  // Every response of the service has a request id. The page of a proxy or of another program has none.
  if (type.startsWith('text/html') && !response.headers.has('x-request-id'))
    throw new ConnectionFailed('the address answers with a web page, and is not the address of Heddle')
  try {
    return await (/\bjson\b/.test(type) ? response.json() : response.blob())
  } catch (error) {
    // `fetch` reports a connection that is lost before the end of the body as a TypeError.
    throw error instanceof TypeError ? new ConnectionFailed(error) : error
  }
}

async function readDetailed(response: Response): Promise<Detailed<unknown>> {
  const { headers, status } = response
  return {
    data: await read(response),
    status,
    etag: headers.get('etag'),
    location: headers.get('location'),
    replayed: headers.get('idempotent-replayed') === 'true',
    headers,
  }
}

async function stream(
  name: Name,
  given: Given,
  client: ClientOptions,
  { onText, ...options }: CallOptions & { onText(text: string): void },
): Promise<unknown> {
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
  const draft: Draft = { text: '', last: null }
  for (let attempt = 0; ; attempt++) {
    const headers = {
      ...options.headers,
      accept: 'text/event-stream',
      ...(draft.last !== null && { 'last-event-id': draft.last }),
    }
    const response = await call(name, given, client, { ...options, idempotencyKey, headers })
    const failed = (problem: unknown): never => {
      const body = problem as { status?: number; detail?: string }
      throw new HeddleProblem(body.status ?? 500, body, null)
    }
    const ended = await followAnswer(response.body!, draft, { onText, failed })
    if (ended) return ended.answer
    options.signal?.throwIfAborted()
    if (attempt >= (client.retries ?? DEFAULT_RETRIES)) throw new ConnectionFailed(undefined)
  }
}

export function makeClient(options: ClientOptions = {}): Client {
  const calls: Record<string, unknown> = {}
  const detailed: Record<string, unknown> = {}
  for (const name of Object.keys(operations) as Name[]) {
    calls[name] = async (given: Given = {}, more: CallOptions = {}) => read(await call(name, given, options, more))
    detailed[name] = async (given: Given = {}, more: CallOptions = {}) =>
      readDetailed(await call(name, given, options, more))
  }
  return Object.assign(calls, {
    options,
    detailed,
    stream: (name: Name, given: Given, more: CallOptions & { onText(text: string): void }) =>
      stream(name, given, options, more),
    with: (more: ClientOptions) => makeClient({ ...options, ...more }),
  }) as unknown as Client
}
