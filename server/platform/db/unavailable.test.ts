import { expect, test } from 'vitest'
import { problem } from '../errors.ts'
import {
  DatabaseReadOnly,
  DatabaseUnresponsive,
  isConnectionLost,
  isDatabaseUnavailable,
  isNeverConnected,
} from './unavailable.ts'

const coded = (code: string): Error => Object.assign(new Error('said by the server'), { code })

const truth: [what: string, error: unknown, lost: boolean, unavailable: boolean][] = [
  ['a reset socket', coded('ECONNRESET'), true, true],
  ['a refused connection', coded('ECONNREFUSED'), true, true],
  ['a name that cannot be resolved at the moment', coded('EAI_AGAIN'), true, true],
  ['a server that is shut down', coded('57P01'), true, true],
  ['a server that is starting', coded('57P03'), true, true],
  ['too many connections', coded('53300'), true, true],
  ['a server that is read only', coded('25006'), true, true],
  ['a session ended while idle in a transaction', coded('25P03'), true, true],
  ['a server that does not respond', new DatabaseUnresponsive('no answer'), true, true],
  ['a standby', new DatabaseReadOnly('a standby'), true, true],
  ['a pool with no connection left', new Error('timeout exceeded when trying to connect'), true, true],
  ['a pool that was closed', new Error('Cannot use a pool after calling end on the pool'), true, true],
  ['a lock timeout', coded('55P03'), false, true],
  ['a statement timeout', coded('57014'), false, true],
  ['a deadlock', coded('40P01'), false, true],
  ['a full disk', coded('53100'), false, true],
  ['an I/O error', coded('58030'), false, true],
  ['an error that was caused by a reset socket', problem('internal', 'x', { cause: coded('ECONNRESET') }), false, true],
  ['the problem "unavailable"', problem('unavailable'), false, true],
  ['an invalid statement', coded('42601'), false, false],
  ['a unique violation', coded('23505'), false, false],
  ['an exceeded quota', problem('quota_exceeded'), false, false],
  ['a bug', new TypeError('x is not a function'), false, false],
  ['a value that is not an error', 'ECONNRESET', false, false],
]

test.each(truth)('%s is classified as lost or unavailable', (_what, error, lost, unavailable) => {
  expect(isConnectionLost(error)).toBe(lost)
  expect(isDatabaseUnavailable(error)).toBe(unavailable)
})

test.each<[string, Error, boolean]>([
  ['too many connections', Object.assign(new Error('sorry, too many clients already'), { code: '53300' }), true],
  ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['a server that is starting', Object.assign(new Error('starting up'), { code: '57P03' }), true],
  ['a name that cannot be resolved', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }), true],
  ['a sign-in that timed out', new Error('timeout expired'), true],
  ['no free connection in the pool', new Error('timeout exceeded when trying to connect'), true],
  ['a connection that was reset', Object.assign(new Error('read'), { code: 'ECONNRESET' }), false],
  ['a connection that the server ended', Object.assign(new Error('terminating connection'), { code: '57P01' }), false],
])('isNeverConnected knows whether anything was sent: %s', (_what, error, never) => {
  expect(isNeverConnected(error)).toBe(never)
})
