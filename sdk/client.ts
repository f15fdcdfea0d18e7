import { type Operations, operations } from './operations.generated.ts'

// A typed client without dependencies, for browsers and Node: `heddle.createTeam({ name: 'Finance' })`.

export type ClientOptions = {
  /** Where the service is; in a browser on its own pages, nothing. */
  baseUrl?: string
  /** An API key (`hk_…`), a webhook token or an embed token. In a browser the session cookie is used without one. */
  token?: string
  workspaceId?: string
  fetch?: typeof fetch
  /** How often a request that may be repeated safely is tried again after 429, 503 or a lost connection. */
  retries?: number
}

export type CallOptions = {
  signal?: AbortSignal
  /** Makes a POST safe to repeat: the same key gives the same answer. */
  idempotencyKey?: string
  /** Refuses the change if the resource is no longer the one with this ETag. */
  ifMatch?: string
  workspaceId?: string
  headers?: Record<string, string>
}

type Input<Name extends keyof Operations> = Operations[Name]['input']
type Arguments<Name extends keyof Operations> = Operations[Name]['required'] extends true
  ? [input: Input<Name>, options?: CallOptions]
  : [input?: Input<Name>, options?: CallOptions]

export type Calls = { [Name in keyof Operations]: (...given: Arguments<Name>) => Promise<Operations[Name]['answer']> }
export type Client = Calls & { readonly options: ClientOptions; with(more: ClientOptions): Client }

export type FieldError = { path: string; message: string }

/** A refusal of the service: `code` is from a closed list, `detail` says what to do next. */
export class HeddleProblem extends Error {
  readonly status: number
  readonly code: string
  readonly errors: FieldError[]
  readonly requestId: string | null
  readonly retryAfterS: number | null

  constructor(
    status: number,
    body: { code?: string; detail?: string; title?: string; errors?: FieldError[]; request_id?: string },
    retryAfterS: number | null,
  ) {
    super(body.detail ?? body.title ?? `The service answered ${status}`)
    this.name = 'HeddleProblem'
    this.status = status
    this.code = body.code ?? 'unknown'
    this.errors = body.errors ?? []
    this.requestId = body.request_id ?? null
    this.retryAfterS = retryAfterS
  }
}

export const delay = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

type Sent = { url: string; init: RequestInit; repeatable: boolean }

function prepare(
  name: keyof Operations,
  given: Record<string, unknown>,
  client: ClientOptions,
  call: CallOptions,
): Sent {
  const [method, path, queryNames = [], raw] = operations[name]
  const rest = { ...given }
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = rest[parameter]
    delete rest[parameter]
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const parameter of queryNames) {
    const value = rest[parameter]
    delete rest[parameter]
    if (value !== undefined && value !== null) query.set(parameter, String(value))
  }
  const headers = new Headers(call.headers)
  if (client.token) headers.set('authorization', `Bearer ${client.token}`)
  const workspaceId = call.workspaceId ?? client.workspaceId
  if (workspaceId) headers.set('x-workspace-id', workspaceId)
  if (call.idempotencyKey) headers.set('idempotency-key', call.idempotencyKey)
  if (call.ifMatch) headers.set('if-match', call.ifMatch)
  let body: BodyInit | undefined
  if (raw) {
    const value = rest.body
    const asIs =
      typeof value === 'string' ||
      value instanceof Blob ||
      value instanceof FormData ||
      value instanceof ArrayBuffer ||
      value instanceof Uint8Array
    if (asIs) body = value as BodyInit
    else if (value !== undefined || Object.keys(rest).length > 0) {
      body = JSON.stringify(value ?? rest)
      headers.set('content-type', 'application/json')
    }
  } else if (method !== 'GET' && Object.keys(rest).length > 0) {
    body = JSON.stringify(rest)
    headers.set('content-type', 'application/json')
  }
  const search = query.size > 0 ? `?${query}` : ''
  return {
    url: (client.baseUrl ?? '').replace(/\/+$/, '') + filled + search,
    init: {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(call.signal && { signal: call.signal }),
      credentials: client.token ? 'omit' : 'same-origin',
    },
    repeatable: method === 'GET' || method === 'PUT' || method === 'DELETE' || call.idempotencyKey !== undefined,
  }
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204 || response.status === 304) return undefined
  const type = response.headers.get('content-type') ?? ''
  return /\bjson\b/.test(type) ? response.json() : response.blob()
}

async function refusal(response: Response): Promise<HeddleProblem> {
  const after = Number(response.headers.get('retry-after'))
  const body = await response.json().catch(() => ({}))
  return new HeddleProblem(response.status, body, Number.isFinite(after) && after > 0 ? after : null)
}

async function send(
  name: keyof Operations,
  given: Record<string, unknown>,
  client: ClientOptions,
  call: CallOptions,
): Promise<unknown> {
  const { url, init, repeatable } = prepare(name, given, client, call)
  const tries = repeatable ? (client.retries ?? 2) + 1 : 1
  for (let attempt = 1; ; attempt++) {
    let problem: unknown
    let wait = 250 * 2 ** (attempt - 1)
    try {
      const response = await (client.fetch ?? fetch)(url, init)
      if (response.ok || response.status === 304) return await read(response)
      const refused = await refusal(response)
      if (refused.status !== 429 && refused.status !== 503) throw refused
      if (refused.retryAfterS !== null) wait = refused.retryAfterS * 1000
      problem = refused
    } catch (error) {
      if (call.signal?.aborted || (error instanceof HeddleProblem && error.status !== 429 && error.status !== 503))
        throw error
      problem = error
    }
    if (attempt >= tries) throw problem
    await delay(wait, call.signal)
  }
}

export function makeClient(options: ClientOptions = {}): Client {
  const calls: Record<string, unknown> = { options, with: (more: ClientOptions) => makeClient({ ...options, ...more }) }
  for (const name of Object.keys(operations) as (keyof Operations)[]) {
    calls[name] = (given: Record<string, unknown> = {}, call: CallOptions = {}) => send(name, given, options, call)
  }
  return calls as Client
}
