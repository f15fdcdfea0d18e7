import { isProblem } from '../errors.ts'

// One place says which errors are the database's and not the statement's: the code that meets one tries again later, and holds it
// against no tenant.

/** The server did not answer in time although the connection was open: a cable was cut, or a machine froze. */
export class DatabaseSilent extends Error {
  readonly code = 'ETIMEDOUT'
}

/** The server takes no writes: a standby, or a primary that is being switched. */
export class DatabaseReadOnly extends Error {
  readonly code = '25006'
}

const codeOf = (error: Error): string => String((error as Error & { code?: unknown }).code ?? '')

/** The server or the network went away, it has no connection left, or it takes no writes: this connection is of no use. */
const lost = /^(08|57P0[1-5]|53300|25006|25P03)/
const lostSockets = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])
const lostWords =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client has encountered a connection error|Cannot use a pool after calling end/

/** What was sent may have been done or not; the connection is gone. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return lost.test(code) || lostSockets.has(code) || lostWords.test(error.message)
}

/** What is only ever said while a connection is being opened. */
const unopened = new Set(['53300', '57P03', 'ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN'])
const unopenedWords = /timeout exceeded when trying to connect|timeout expired/

/** There was no connection to send anything on: the server has none left or lets nobody in, or nobody answers at its address. */
export function isNeverConnected(error: unknown): boolean {
  return error instanceof Error && (unopened.has(codeOf(error)) || unopenedWords.test(error.message))
}

/** Deadlocks and serialization, lack of memory, disk or connections, lock and statement timeouts, trouble of the system. */
const passing = /^(40|53|55P03|57014|58)/

const DEEPEST_CAUSE = 5

/**
 * Whether an error, or what caused it, is trouble of the database and not the fault of what was asked of it. The same call
 * may succeed later; the fate of a write is unknown.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  let at: unknown = error
  for (let depth = 0; at instanceof Error && depth < DEEPEST_CAUSE; depth += 1) {
    if (isProblem(at, 'unavailable') || isProblem(at, 'overloaded')) return true
    if (isConnectionLost(at) || passing.test(codeOf(at))) return true
    at = at.cause
  }
  return false
}
