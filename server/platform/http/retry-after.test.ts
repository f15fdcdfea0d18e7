import { expect, test } from 'vitest'
import { makeRetryAfter } from './retry-after.ts'

test('the retry time grows with the number of refusals, up to half a minute', () => {
  let now = 0
  const retryAfter = makeRetryAfter(() => now)
  const refuse = (times: number): number => {
    let seconds = 0
    for (let n = 0; n < times; n++) seconds = retryAfter.retryAfterS()
    return seconds
  }
  expect(refuse(500)).toBe(1)
  expect(refuse(1)).toBe(2)
  expect(refuse(1999)).toBe(5)
  now = 1000
  expect(refuse(1)).toBe(5)
  now = 2000
  expect(refuse(1)).toBe(1)
  now = 5000
  expect(refuse(100_000)).toBe(30)
  now = 7000
  expect(refuse(1)).toBe(1)
})
