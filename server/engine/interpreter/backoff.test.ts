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
  ['without a policy no error is retried', undefined, 1, passing, plain, undefined],
  ['a temporary error is retried', policy(), 1, passing, plain, 10_000],
  ['a second temporary error is retried after a longer pause', policy(), 2, passing, plain, 20_000],
  ['a temporary error of the last attempt is not retried', policy(), 3, passing, plain, undefined],
  ['a permanent error is not retried', policy(), 1, permanent, plain, undefined],
  ['a permanent error that the policy lists is retried', policy({ on: ['gone'] }), 1, permanent, plain, 10_000],
  [
    'a permanent error that the policy lists is not retried after the last attempt',
    policy({ on: ['gone'] }),
    3,
    permanent,
    plain,
    undefined,
  ],
  ['a temporary error that the policy lists is retried', policy({ on: ['gone', 'busy'] }), 1, passing, plain, 10_000],
  [
    'a temporary error that the policy does not list is not retried',
    policy({ on: ['gone'] }),
    1,
    passing,
    plain,
    undefined,
  ],
  [
    'a final error is not retried, even if the policy lists it',
    policy({ on: ['gone'] }),
    1,
    { ...permanent, isFinal: true },
    plain,
    undefined,
  ],
  ['a node that may run at most once is not retried', policy(), 1, passing, once, undefined],
  [
    'a node that may run at most once is not retried, even if the policy lists the error',
    policy({ on: ['busy'] }),
    1,
    passing,
    once,
    undefined,
  ],
  [
    'a node that may run at most once is retried if it had no effect',
    policy(),
    1,
    { ...passing, nothingDone: true },
    once,
    10_000,
  ],
  [
    'a node that may run at most once and had no effect is not retried after a permanent error',
    policy(),
    1,
    { ...permanent, nothingDone: true },
    once,
    undefined,
  ],
  ['a longer time that the target requests is used', policy(), 1, { ...passing, retryAfterS: 60 }, plain, 60_000],
  ['a shorter time that the target requests is ignored', policy(), 1, { ...passing, retryAfterS: 1 }, plain, 10_000],
  [
    'a time that the target requests may exceed the maximum backoff',
    policy({ max_backoff_s: 5 }),
    1,
    { ...passing, retryAfterS: 60 },
    plain,
    60_000,
  ],
  [
    'a time that the target requests is limited to a day',
    policy(),
    1,
    { ...passing, retryAfterS: 31_536_000 },
    plain,
    86_400_000,
  ],
  [
    'a permanent error with a requested time is not retried',
    policy(),
    1,
    { ...permanent, retryAfterS: 60 },
    plain,
    undefined,
  ],
])('%s', (_case, given, attempt, ending, about, expected) => {
  expect(nextAttemptIn(given, attempt, ending, about)).toBe(expected)
})

test.each<[string, Partial<RetryPolicy>, number, number, number]>([
  ['the first pause is the backoff of the policy', {}, 1, 10_000, 10_000],
  ['pauses double', {}, 4, 80_000, 80_000],
  ['pauses grow by the factor', { factor: 3 }, 3, 90_000, 90_000],
  ['pauses stay the same with the factor 1', { factor: 1 }, 9, 10_000, 10_000],
  ['no pause is longer than the maximum backoff', { max_backoff_s: 25 }, 9, 25_000, 25_000],
  ['no pause is longer than a day', { factor: 10 }, 20, 86_400_000, 86_400_000],
  ['the default jitter is a quarter', { jitter: undefined as never }, 1, 7_500, 12_500],
  ['a jitter of 1 varies the pause between zero and twice its length', { jitter: 1 }, 1, 0, 20_000],
])('%s', (_case, more, attempt, least, most) => {
  const pauses = Array.from({ length: 200 }, (_, n) => backoff(policy(more), attempt, `seed ${n}`))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(most)
  expect(new Set(pauses).size > 1).toBe(least !== most)
})
