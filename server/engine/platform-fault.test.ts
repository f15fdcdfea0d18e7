import { expect, test } from 'vitest'
import { DatabaseReadOnly, DatabaseSilent } from '#platform/db/unavailable'
import { problem } from '#platform/errors'
import { Fenced, Full, Refused, Unknown } from './journal/failures.ts'
import { NodeFailure } from './node.ts'
import { type PlatformFault, platformFault, StorageTrouble } from './platform-fault.ts'

const coded = (code: string, cause?: unknown): Error => Object.assign(new Error('said somewhere', { cause }), { code })

type Kind = PlatformFault['kind']

const truth: [what: string, error: unknown, fromNode: Kind | null, fromEngine: Kind | null, words?: string][] = [
  ['a failure of the node', new NodeFailure('http_status', 'it said 503'), null, null],
  [
    'one with trouble of its own as cause',
    Object.assign(new NodeFailure('x', 'y'), { cause: coded('53100') }),
    null,
    null,
  ],
  ['a mistake of ours', new TypeError('x is not a function'), null, null],
  ['a mistake of ours with trouble as cause', new Error('x', { cause: coded('57P01') }), 'database', 'database'],
  ['something that is no error', 'ECONNRESET', null, null],
  [
    'our pool has no connection',
    problem('unavailable', 'The database does not answer. Try again.'),
    'database',
    'database',
    'The database does not answer.',
  ],
  ['a full storage', problem('storage_full'), 'storage', 'storage'],
  ['more load than can be carried', problem('overloaded'), 'load', 'load'],
  ['too many executions are queued', problem('queue_full'), 'load', 'load'],
  ['a quota that is used up', problem('quota_exceeded'), null, null],
  ['a provider that does not answer', problem('provider_unavailable'), null, null],
  ['a workspace that is gone', problem('not_found'), null, null],
  ['a server of a tenant that refuses', coded('ECONNREFUSED'), null, 'database'],
  ['fetch failed', new TypeError('fetch failed', { cause: coded('ECONNRESET') }), null, 'database'],
  ['a database that is shut down', coded('57P01'), 'database', 'database', 'The database does not answer.'],
  ['a lock that was not had', coded('55P03'), 'database', 'database', 'The database took too long.'],
  ['a deadlock', coded('40P01'), 'database', 'database'],
  [
    'a database that is a standby',
    new DatabaseReadOnly('standby'),
    'database',
    'database',
    'The database takes no writes.',
  ],
  ['a silent database', new DatabaseSilent('silent'), 'database', 'database'],
  ['the disk of the database is full', coded('53100'), 'storage', 'storage', 'The disk of the database is full.'],
  ['words of the pool', new Error('timeout exceeded when trying to connect'), 'database', 'database'],
  ['a unique violation', coded('23505'), null, null],
  ['a statement that is wrong', coded('42601'), null, null],
  ['a full disk', coded('ENOSPC'), 'storage', 'storage', 'The storage of the service is full.'],
  [
    'a disk that is read only',
    coded('EROFS'),
    'storage',
    'storage',
    'The storage of the service cannot be written to.',
  ],
  ['a file of ours that we may not write', coded('EACCES'), null, 'storage'],
  ['a blob store that gives no reason', new StorageTrouble('x'), 'storage', 'storage'],
  ['a blob store that gives one', new StorageTrouble('x', { cause: coded('ENOSPC') }), 'storage', 'storage'],
  ['a worker that was declared dead', new Fenced('dead'), 'database', 'database'],
  ['an append whose fate is unknown', new Unknown('broke'), 'database', 'database'],
  ['a journal without room', new Full('full'), 'storage', 'storage'],
  ['an append that the database refuses', new Refused('bad'), null, null],
]

test.each(truth)('%s', (_what, error, fromNode, fromEngine, words) => {
  expect(platformFault(error, 'node')?.kind ?? null).toBe(fromNode)
  expect(platformFault(error, 'engine')?.kind ?? null).toBe(fromEngine)
  if (words !== undefined) expect(platformFault(error, 'engine')?.words).toBe(words)
})
