import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Json, JsonObject } from '#model/definition'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { type Query, type QueryResult, type Step, type Warehouse, WarehouseFailure } from './index.ts'

export type TargetAccess = Pick<Outgoing, 'resolveTarget' | 'lookupFor' | 'checkLiteral'>

const CONNECT_MS = 10_000

/** Assigns a failure to a step, unless the failure already has a step. */
export async function inStep<T>(step: Step, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof WarehouseFailure) throw error
    throw new WarehouseFailure(step, messageOf(error))
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  const { message, code } = error as { message?: string; code?: unknown }
  return (message || String(code ?? error)).slice(0, 500)
}

/** Rejects after a timeout or when the caller aborts. */
export async function withTimeout<T>(
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const given = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void =>
      reject(new Error(signal.aborted ? 'it was cancelled' : `no answer within ${Math.round(timeoutMs / 1000)} s`))
    if (both.aborted) giveUp()
    else both.addEventListener('abort', giveUp, { once: true })
  })
  return Promise.race([work(both), given])
}

/**
 * Limits the time of a whole query, including its pages, independent of the driver's own timeouts. No caller waits
 * longer for a server that stopped responding, and an aborted query ends at once.
 */
export async function limitQueryTime(
  query: Query,
  start: (query: Query) => Promise<QueryResult>,
): Promise<QueryResult> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), query.timeoutMs)
  const signal = AbortSignal.any([query.signal, late.signal])
  const given = new Promise<never>((_resolve, reject) => {
    const seconds = Math.round(query.timeoutMs / 1000)
    const giveUp = (): void =>
      reject(new WarehouseFailure('read', late.signal.aborted ? `no answer within ${seconds} s` : 'it was cancelled'))
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp, { once: true })
  })
  given.catch(() => {})
  async function* pagesOf(result: QueryResult): AsyncGenerator<JsonObject[]> {
    const pages = result.pages[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await Promise.race([pages.next(), given])
        if (next.done) return
        yield next.value
      }
    } finally {
      clearTimeout(timer)
      // After an abort, the close is not awaited, because the server may hang.
      const closed = Promise.resolve(pages.return?.()).catch(() => {})
      if (!signal.aborted) await closed
    }
  }
  try {
    const result = await Promise.race([start({ ...query, signal }), given])
    return { columns: result.columns, pages: pagesOf(result) }
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

/**
 * Returns an address of the host that tenants may reach. Connect to this address, not to the name, because the name may
 * resolve differently the next time.
 */
export async function resolveAddress(reach: TargetAccess, host: string, port: number): Promise<string> {
  const [first] = await inStep('resolve', () =>
    reach.resolveTarget(host, port).catch((error: unknown) => {
      if (error instanceof OutgoingFailure) throw error
      throw new Error(`the name "${host}" could not be resolved`)
    }),
  )
  return first!.address
}

export const openSocket = (address: string, port: number): Promise<Socket> =>
  inStep(
    'connect',
    () =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: address, port })
        socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('the connection took too long')))
        socket.once('error', reject)
        socket.once('connect', () => {
          socket.setTimeout(0)
          resolve(socket)
        })
      }),
  )

export const startTls = (
  socket: Socket,
  options: { servername: string; ca?: string; verify: boolean },
): Promise<void> =>
  inStep(
    'tls',
    () =>
      new Promise((resolve, reject) => {
        const secure = connectTls({
          socket,
          ...(isIP(options.servername) === 0 && { servername: options.servername }),
          ...(options.ca && { ca: options.ca }),
          rejectUnauthorized: options.verify,
        })
        socket.setTimeout(CONNECT_MS, () => secure.destroy(new Error('the server does not answer')))
        secure.once('error', reject)
        secure.once('secureConnect', () => {
          secure.destroy()
          resolve()
        })
      }),
  )

export type Web = { host: string; port: number; https: boolean; ca?: string }

/** Performs the first three steps of a probe of an HTTP service. */
async function probeWeb(reach: TargetAccess, { host, port, https, ca }: Web): Promise<void> {
  const socket = await openSocket(await resolveAddress(reach, host, port), port)
  try {
    if (https) await startTls(socket, { servername: host, verify: true, ...(ca && { ca }) })
  } finally {
    socket.destroy()
  }
}

/** Probes all steps: the connection, then a query that requires a valid sign-in. */
export const probeOver =
  (reach: TargetAccess, webOf: (config: JsonObject) => Web, query: Warehouse['query']): Warehouse['probe'] =>
  async (target, options) => {
    await probeWeb(reach, webOf(target.config))
    const { pages } = await query(target, { text: 'select 1 as one', limit: 1, ...options })
    for await (const _page of pages);
  }

export const destinationOf = ({ host, port }: Web): string => `${host.toLowerCase()}:${port}`

/** Returns an agent that connects only to this host and port, through the guarded look-up. */
export function webAgent(reach: TargetAccess, { host, port, https, ca }: Web): HttpAgent {
  const Base = https ? HttpsAgent : HttpAgent
  const agent = new Base({ keepAlive: false, lookup: reach.lookupFor(host, port), ...(ca && { ca }) })
  const dial = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const wanted = String((options as { host?: string }).host ?? '')
    if (wanted !== host || Number((options as { port?: unknown }).port) !== port)
      throw new OutgoingFailure('target_refused', `"${wanted.slice(0, 100)}" is not the host of this connection`)
    reach.checkLiteral(host, port)
    return dial(options, callback)
  }
  return agent
}

/** Makes column names unique, because two columns of the same name would overwrite each other in an object. */
export function uniqueNames(names: string[]): string[] {
  const used = new Set<string>()
  const given = new Set(names)
  return names.map((name) => {
    let unique = name
    for (let count = 2; used.has(unique) || (unique !== name && given.has(unique)); count++) unique = `${name}_${count}`
    used.add(unique)
    return unique
  })
}

export const rowOf = (names: string[], cells: readonly unknown[]): JsonObject =>
  Object.fromEntries(names.map((name, index) => [name, toJson(cells[index])]))

/**
 * Converts a driver's value to JSON. Integers and decimals become numbers if a double represents them exactly,
 * otherwise text.
 */
export function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)
    case 'object':
      if (value === null) return null
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
      if (Array.isArray(value)) return value.map(toJson)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))
    default:
      return null
  }
}

/** Returns a number if parsing and formatting the text gives the same text again. */
export function exactNumber(text: string): Json {
  const value = Number(text)
  if (!Number.isFinite(value) || text.trim() === '') return text
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return text
  const digits = text
    .replace(/[eE].*$/, '')
    .replaceAll(/[-+.]/g, '')
    .replace(/^0+/, '').length
  return digits <= 15 || String(value) === text ? value : text
}

const part = /^[\p{L}_][\p{L}\p{N}_$ -]{0,127}$/u

/** Quotes each part of `schema.table`. A text that is not a plain name is refused before it becomes part of SQL. */
export function quoteTable(table: string, quote: '"' | '`', mostParts = 3): string {
  const parts = table.split('.')
  if (parts.length > mostParts || !parts.every((name) => part.test(name)))
    throw new WarehouseFailure('read', `"${table.slice(0, 100)}" is not the name of a table`)
  return parts.map((name) => `${quote}${name}${quote}`).join('.')
}

/** Removes the semicolon at the end of a statement. Every kind of warehouse refuses a second statement after it. */
export const bareStatement = (text: string): string => {
  let bare = text.trimEnd()
  while (bare.endsWith(';')) bare = bare.slice(0, -1).trimEnd()
  return bare
}

/** For warehouses without a read-only session: as a subquery, the text can only be a query. */
export const asSubquery = (text: string, limit: number): string =>
  `select * from (\n${bareStatement(text)}\n) limit ${limit}`

/**
 * Selects the rows of a statement whose column is at least a given value, ordered by that column. The value is a
 * parameter.
 */
export const readFromWith =
  (quote: '"' | '`', parameter: string): NonNullable<Warehouse['readFrom']> =>
  (text, column, isFirst) => {
    const at = quoteTable(column, quote, 1)
    const from = isFirst ? '' : ` where ${at} >= ${parameter}`
    return `select * from (\n${bareStatement(text)}\n) heddle_source${from} order by ${at}`
  }

/** Returns at most `limit` rows of a stream of pages. */
export async function* limited(pages: AsyncIterable<JsonObject[]>, limit: number): AsyncGenerator<JsonObject[]> {
  let left = limit
  for await (const page of pages) {
    if (left <= 0) return
    yield page.length > left ? page.slice(0, left) : page
    left -= page.length
    if (left <= 0) return
  }
}

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const hostSchema = {
  type: 'string',
  title: 'Host',
  minLength: 1,
  maxLength: 253,
  pattern: '^[A-Za-z0-9._:\\-\\[\\]]+$',
}
export const portSchema = (standard: number): JsonObject => ({
  type: 'integer',
  title: 'Port',
  minimum: 1,
  maximum: 65_535,
  default: standard,
})
export const nameSchema = (title: string): JsonObject => ({ type: 'string', title, minLength: 1, maxLength: 256 })
