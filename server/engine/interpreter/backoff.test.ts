import { expect, test } from 'vitest'
import type { RetryPolicy } from '#model/definition'
import { type AttemptEnd, backoff, nextAttemptIn } from './backoff.ts'

const policy = (more: Partial<RetryPolicy> = {}): RetryPolicy => ({
  max_attempts: 3,
  backoff_s: 10,
  jitter: 0,
  ...more,
})
const passing: AttemptEnd = { code: 'busy', retryable: true }
const permanent: AttemptEnd = { code: 'gone', retryable: false }
const plain = { isAtMostOnce: false, seed: 's' }
const once = { isAtMostOnce: true, seed: 's' }

test.each<[string, RetryPolicy | undefined, number, AttemptEnd, typeof plain, number | undefined]>([
  ['no policy', undefined, 1, passing, plain, undefined],
  ['what may pass', policy(), 1, passing, plain, 10_000],
  ['what may pass, a second time', policy(), 2, passing, plain, 20_000],
  ['what may pass, after the last attempt', policy(), 3, passing, plain, undefined],
  ['what is permanent', policy(), 1, permanent, plain, undefined],
  ['what is permanent and named', policy({ on: ['gone'] }), 1, permanent, plain, 10_000],
  ['what is permanent and named, after the last attempt', policy({ on: ['gone'] }), 3, permanent, plain, undefined],
  ['what may pass and is named', policy({ on: ['gone', 'busy'] }), 1, passing, plain, 10_000],
  ['what may pass and is not named', policy({ on: ['gone'] }), 1, passing, plain, undefined],
  ['an answer, though it is named', policy({ on: ['gone'] }), 1, { ...permanent, isFinal: true }, plain, undefined],
  ['what may happen once', policy(), 1, passing, once, undefined],
  ['what may happen once, though it is named', policy({ on: ['busy'] }), 1, passing, once, undefined],
  ['what may happen once and did nothing', policy(), 1, { ...passing, nothingDone: true }, once, 10_000],
  [
    'what may happen once, did nothing and is permanent',
    policy(),
    1,
    { ...permanent, nothingDone: true },
    once,
    undefined,
  ],
  ['a target that asks for more time', policy(), 1, { ...passing, retryAfterS: 60 }, plain, 60_000],
  ['a target that asks for less time', policy(), 1, { ...passing, retryAfterS: 1 }, plain, 10_000],
  [
    'a target that asks for more than the longest pause',
    policy({ max_backoff_s: 5 }),
    1,
    { ...passing, retryAfterS: 60 },
    plain,
    60_000,
  ],
  ['a target that asks for a year', policy(), 1, { ...passing, retryAfterS: 31_536_000 }, plain, 86_400_000],
  ['a permanent error with a time', policy(), 1, { ...permanent, retryAfterS: 60 }, plain, undefined],
])('%s', (_case, given, attempt, ending, about, expected) => {
  expect(nextAttemptIn(given, attempt, ending, about)).toBe(expected)
})

test.each<[string, Partial<RetryPolicy>, number, number, number]>([
  ['the first pause', {}, 1, 10_000, 10_000],
  ['pauses double', {}, 4, 80_000, 80_000],
  ['pauses grow by the factor', { factor: 3 }, 3, 90_000, 90_000],
  ['pauses stay the same with the factor 1', { factor: 1 }, 9, 10_000, 10_000],
  ['no pause is longer than the longest', { max_backoff_s: 25 }, 9, 25_000, 25_000],
  ['no pause is longer than a day', { factor: 10 }, 20, 86_400_000, 86_400_000],
  ['a quarter of jitter unless said', { jitter: undefined as never }, 1, 7_500, 12_500],
  ['full jitter', { jitter: 1 }, 1, 0, 20_000],
])('%s', (_case, more, attempt, least, most) => {
  const pauses = Array.from({ length: 200 }, (_, n) => backoff(policy(more), attempt, `seed ${n}`))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(most)
  expect(new Set(pauses).size > 1).toBe(least !== most)
})
