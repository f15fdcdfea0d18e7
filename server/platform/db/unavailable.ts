import { isProblem } from '../errors.ts'

// Decides which errors are caused by the database and not by the statement. Code that gets such an error tries again
// later and does not blame a tenant.

/**
 * The server did not answer in time although the connection was open: for example, a cable was cut or a machine froze.
 */
export class DatabaseUnresponsive extends Error {
  readonly code = 'ETIMEDOUT'
}

/** The server does not accept writes: a standby, or a primary during a switchover. */
export class DatabaseReadOnly extends Error {
  readonly code = '25006'
}

const codeOf = (error: Error): string => String((error as Error & { code?: unknown }).code ?? '')

/**
 * The server or the network failed, the server has no free connection, or it accepts no writes. The connection is
 * unusable.
 */
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

/** Checks whether the connection is lost. Whether the last statement was executed is then unknown. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return lost.test(code) || lostSockets.has(code) || lostWords.test(error.message)
}

/** Codes that occur only while a connection is being opened. */
const unopened = new Set(['53300', '57P03', 'ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN'])
const unopenedWords = /timeout exceeded when trying to connect|timeout expired/

/**
 * Checks whether there was no connection to send anything on: the server has no free connection, refuses connections,
 * or is unreachable.
 */
export function isNeverConnected(error: unknown): boolean {
  return error instanceof Error && (unopened.has(codeOf(error)) || unopenedWords.test(error.message))
}

/**
 * Deadlocks and serialization failures, lack of memory, disk or connections, lock and statement timeouts, system
 * errors.
 */
const passing = /^(40|53|55P03|57014|58)/

const DEEPEST_CAUSE = 5

/**
 * Checks whether an error, or one of its causes, is a problem of the database and not of the request. The same call may
 * succeed later. Whether a write was executed is unknown.
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
