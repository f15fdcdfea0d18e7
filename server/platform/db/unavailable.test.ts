import { expect, test } from 'vitest'
import { problem } from '../errors.ts'
import {
  DatabaseReadOnly,
  DatabaseSilent,
  isConnectionLost,
  isDatabaseUnavailable,
  isNeverConnected,
} from './unavailable.ts'

const coded = (code: string): Error => Object.assign(new Error('said by the server'), { code })

const truth: [what: string, error: unknown, lost: boolean, unavailable: boolean][] = [
  ['a reset socket', coded('ECONNRESET'), true, true],
  ['a refused connection', coded('ECONNREFUSED'), true, true],
  ['a name that cannot be resolved now', coded('EAI_AGAIN'), true, true],
  ['a server that is shut down', coded('57P01'), true, true],
  ['a server that starts', coded('57P03'), true, true],
  ['too many connections', coded('53300'), true, true],
  ['a server that is read only', coded('25006'), true, true],
  ['a session ended while idle in a transaction', coded('25P03'), true, true],
  ['a silent server', new DatabaseSilent('no answer'), true, true],
  ['a standby', new DatabaseReadOnly('a standby'), true, true],
  ['a pool with no connection left', new Error('timeout exceeded when trying to connect'), true, true],
  ['a pool that was closed', new Error('Cannot use a pool after calling end on the pool'), true, true],
  ['a lock timeout', coded('55P03'), false, true],
  ['a statement timeout', coded('57014'), false, true],
  ['a deadlock', coded('40P01'), false, true],
  ['a full disk', coded('53100'), false, true],
  ['a broken file', coded('58030'), false, true],
  ['our refusal with such a cause', problem('internal', 'x', { cause: coded('ECONNRESET') }), false, true],
  ['our own word for it', problem('unavailable'), false, true],
  ['a wrong statement', coded('42601'), false, false],
  ['a unique violation', coded('23505'), false, false],
  ['a refusal of the tenant', problem('quota_exceeded'), false, false],
  ['a mistake of ours', new TypeError('x is not a function'), false, false],
  ['no error at all', 'ECONNRESET', false, false],
]

test.each(truth)('%s is classified as lost or unavailable', (_what, error, lost, unavailable) => {
  expect(isConnectionLost(error)).toBe(lost)
  expect(isDatabaseUnavailable(error)).toBe(unavailable)
})

test.each<[string, Error, boolean]>([
  ['no connection left', Object.assign(new Error('sorry, too many clients already'), { code: '53300' }), true],
  ['nobody at the address', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['a server that starts', Object.assign(new Error('starting up'), { code: '57P03' }), true],
  ['a name that cannot be resolved', Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }), true],
  ['a sign-in that took too long', new Error('timeout expired'), true],
  ['none free in time', new Error('timeout exceeded when trying to connect'), true],
  ['broken in the middle', Object.assign(new Error('read'), { code: 'ECONNRESET' }), false],
  ['ended by the server', Object.assign(new Error('terminating connection'), { code: '57P01' }), false],
])('isNeverConnected knows whether anything was sent: %s', (_what, error, never) => {
  expect(isNeverConnected(error)).toBe(never)
})
