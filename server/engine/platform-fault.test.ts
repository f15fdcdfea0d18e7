import { expect, test } from 'vitest'
import { DatabaseReadOnly, DatabaseUnresponsive } from '#platform/db/unavailable'
import { problem, StoreUnavailable } from '#platform/errors'
import { Fenced, Full, Refused, Unknown } from './journal/failures.ts'
import { NodeFailure } from './node.ts'
import { type PlatformFault, platformFault, StorageTrouble } from './platform-fault.ts'

const coded = (code: string, cause?: unknown): Error => Object.assign(new Error('said somewhere', { cause }), { code })

type Kind = PlatformFault['kind']

const truth: [what: string, error: unknown, fromNode: Kind | null, fromEngine: Kind | null, words?: string][] = [
  ['a failure of the node', new NodeFailure('http_status', 'it said 503'), null, null],
  [
    'a failure of the node that was caused by a platform fault',
    Object.assign(new NodeFailure('x', 'y'), { cause: coded('53100') }),
    null,
    null,
  ],
  ['a bug', new TypeError('x is not a function'), null, null],
  ['an error that was caused by a platform fault', new Error('x', { cause: coded('57P01') }), 'database', 'database'],
  ['a value that is not an error', 'ECONNRESET', null, null],
  [
    'a connection pool without a free connection',
    problem('unavailable', 'The database does not answer. Try again.'),
    'database',
    'database',
    'The database does not answer.',
  ],
  ['full storage', problem('storage_full'), 'storage', 'storage'],
  ['overload', problem('overloaded'), 'load', 'load'],
  ['a full queue', problem('queue_full'), 'load', 'load'],
  ['a quota that is used up', problem('quota_exceeded'), null, null],
  ['a provider that does not answer', problem('provider_unavailable'), null, null],
  ['a deleted workspace', problem('not_found'), null, null],
  ['a refused connection', coded('ECONNREFUSED'), null, 'database'],
  ['a failed fetch', new TypeError('fetch failed', { cause: coded('ECONNRESET') }), null, 'database'],
  ['a database that is shut down', coded('57P01'), 'database', 'database', 'The database does not answer.'],
  ['a lock timeout', coded('55P03'), 'database', 'database', 'The database took too long.'],
  ['a deadlock', coded('40P01'), 'database', 'database'],
  [
    'a database that is a standby',
    new DatabaseReadOnly('standby'),
    'database',
    'database',
    'The database accepts no writes.',
  ],
  ['a database that does not respond', new DatabaseUnresponsive('silent'), 'database', 'database'],
  ['a full disk of the database', coded('53100'), 'storage', 'storage', 'The disk of the database is full.'],
  ['a timeout of the connection pool', new Error('timeout exceeded when trying to connect'), 'database', 'database'],
  ['a unique violation', coded('23505'), null, null],
  ['an invalid statement', coded('42601'), null, null],
  ['a full disk of the service', coded('ENOSPC'), 'storage', 'storage', 'The storage of the service is full.'],
  ['a read-only disk', coded('EROFS'), 'storage', 'storage', 'The storage of the service cannot be written to.'],
  ['a file without write permission', coded('EACCES'), null, 'storage'],
  ['a blob store error without a cause', new StorageTrouble('x'), 'storage', 'storage'],
  [
    'a blob store that refuses connections',
    new StoreUnavailable('x', { cause: coded('ECONNREFUSED') }),
    'storage',
    'storage',
  ],
  ['a blob store error with a cause', new StorageTrouble('x', { cause: coded('ENOSPC') }), 'storage', 'storage'],
  ['a worker that was declared dead', new Fenced('dead'), 'database', 'database'],
  ['an append with an unknown outcome', new Unknown('broke'), 'database', 'database'],
  ['a journal without room', new Full('full'), 'storage', 'storage'],
  ['an append that the database refuses', new Refused('bad'), null, null],
]

test.each(truth)('%s', (_what, error, fromNode, fromEngine, words) => {
  expect(platformFault(error, 'node')?.kind ?? null).toBe(fromNode)
  expect(platformFault(error, 'engine')?.kind ?? null).toBe(fromEngine)
  if (words !== undefined) expect(platformFault(error, 'engine')?.words).toBe(words)
})
