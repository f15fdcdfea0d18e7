import { expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { watchStandstill } from './standstill.ts'

test('a process that stood still reports it until the next heartbeat', () => {
  let at = 0
  const standstill = watchStandstill(() => at)
  at += SECOND
  expect(standstill.happened()).toBe(false)
  at += 2 * SECOND
  expect(standstill.happened()).toBe(true)
  expect(standstill.happened()).toBe(true)
  standstill.forget()
  expect(standstill.happened()).toBe(false)
  standstill.stop()
})
