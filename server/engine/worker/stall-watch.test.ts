import { expect, test } from 'vitest'
import { SECOND } from '#platform/clock'
import { watchStalls } from './stall-watch.ts'

test('a process that stood still reports it until the next heartbeat', () => {
  let at = 0
  const stallWatch = watchStalls(() => at)
  at += SECOND
  expect(stallWatch.hasStalled()).toBe(false)
  at += 2 * SECOND
  expect(stallWatch.hasStalled()).toBe(true)
  expect(stallWatch.hasStalled()).toBe(true)
  stallWatch.reset()
  expect(stallWatch.hasStalled()).toBe(false)
  stallWatch.stop()
})
