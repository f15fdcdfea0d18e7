import { ExpressionFailure } from '#model/expressions'
import { DatabaseUnresponsive, isConnectionLost, isDatabaseUnavailable } from '#platform/db/unavailable'
import { isProblem, type Problem, StoreUnavailable } from '#platform/errors'
import { Fenced, Full, Unknown, Unsent } from './journal/failures.ts'
import { NodeFailure } from './node.ts'

// The only place that decides which errors are faults of the platform: of its database, its blob store, or too much
// load. No tenant is blamed for such an error: the work is retried for as long as it takes. Every other error is
// either a failure of the node or a mistake in our code, and endless retries would not help.

export type PlatformFault = {
  kind: 'database' | 'storage' | 'load'
  /** The fault in words for users, without internal addresses, statements or names. */
  words: string
}

/**
 * Where the error comes from: from a call of a node (whose own servers may refuse connections, which is not a fault
 * of our network), or from a call of the engine.
 */
export type Origin = 'node' | 'engine'

/** The blob store failed for an unknown reason. */
export class StorageTrouble extends Error {}

const fault = (kind: PlatformFault['kind'], words: string): PlatformFault => ({ kind, words })

const storage: Record<string, string> = {
  ENOSPC: 'The storage of the service is full.',
  EDQUOT: 'The storage of the service is full.',
  EROFS: 'The storage of the service cannot be written to.',
  EIO: 'The storage of the service failed.',
  EMFILE: 'The service has too many open files.',
  ENFILE: 'The service has too many open files.',
}
/** Files of the service that it may not access. For the engine this is a fault; a node may name such a file itself. */
const engineStorage: Record<string, string> = {
  EACCES: 'The storage of the service cannot be written to.',
  EPERM: 'The storage of the service cannot be written to.',
}

const problems = new Map<string, PlatformFault['kind']>([
  ['unavailable', 'database'],
  ['storage_full', 'storage'],
  ['overloaded', 'load'],
  ['queue_full', 'load'],
])

const database = (code: string): PlatformFault => {
  if (code === '53100') return fault('storage', 'The disk of the database is full.')
  if (code === '25006') return fault('database', 'The database accepts no writes.')
  if (code === '55P03' || code === '57014') return fault('database', 'The database took too long.')
  if (code.startsWith('40')) return fault('database', 'Another request changed the same data at the same time.')
  return fault('database', 'The database does not answer.')
}

const ofProblem = (problem: Problem): PlatformFault | undefined => {
  const kind = problems.get(problem.code)
  // The first sentence names the fault. The others tell a caller of the API what to do.
  return kind && fault(kind, /^.*?[.](?=\s|$)/.exec(problem.message)?.[0] ?? problem.message)
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)

const ofOne = (error: Error, origin: Origin): PlatformFault | undefined => {
  if (isProblem(error)) return ofProblem(error)
  if (error instanceof StorageTrouble || error instanceof StoreUnavailable)
    return fault('storage', 'The storage of the service does not answer.')
  if (error instanceof Full) return database('53100')
  if (error instanceof Fenced || error instanceof Unknown || error instanceof Unsent) return database('')
  const code = String((error as Error & { code?: unknown }).code ?? '')
  const words = storage[code] ?? (origin === 'engine' ? engineStorage[code] : undefined)
  if (words !== undefined) return fault('storage', words)
  if (origin === 'engine' || isSqlState(code) || error instanceof DatabaseUnresponsive)
    return isDatabaseUnavailable(error) ? database(code) : undefined
  // Without a code, only the messages of our own pool are left.
  return code === '' && isConnectionLost(error) ? database('') : undefined
}

const DEEPEST_CAUSE = 5

/** Returns undefined if the error is not a fault of the platform. */
export const platformFault = (error: unknown, origin: Origin): PlatformFault | undefined => {
  let at = error
  for (let depth = 0; at instanceof Error && depth < DEEPEST_CAUSE; depth += 1) {
    if (at instanceof NodeFailure || at instanceof ExpressionFailure) return undefined
    const found = ofOne(at, origin)
    if (found) return found
    at = at.cause
  }
  return undefined
}
