import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Peers } from '../peers.ts'
import { limits, makeRateLimiter } from './limits.ts'
import { shareSpending } from './shared-limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Two processes whose messages arrive immediately. */
function pair() {
  const heard: ((value: unknown) => void)[] = []
  return [0, 1].map((own) => {
    const limiter = makeRateLimiter()
    const peers: Peers = {
      index: own + 1,
      count: 2,
      broadcast: (_, value) => heard[1 - own]!(structuredClone(value)),
      onBroadcast: (_, handle) => {
        heard[own] = handle
      },
      requestAll: async () => [],
      onRequest: () => {},
    }
    shareSpending(limiter, peers)
    return limiter
  }) as [ReturnType<typeof makeRateLimiter>, ReturnType<typeof makeRateLimiter>]
}

const takeAll = (limiter: ReturnType<typeof makeRateLimiter>): number => {
  let taken = 0
  while (limiter.take(limits.sign_up, 'a').allowed) taken += 1
  return taken
}

test('a request that one process accepts also counts in the other', () => {
  const [first, second] = pair()
  expect(takeAll(first)).toBe(limits.sign_up.burst)
  vi.advanceTimersByTime(100)
  expect(second.peek(limits.sign_up, 'a').allowed).toBe(false)
  expect(second.peek(limits.sign_up, 'b').allowed).toBe(true)
})

test('requests that both accepted before they exchanged messages extend the wait', () => {
  const [first, second] = pair()
  expect(takeAll(first) + takeAll(second)).toBe(2 * limits.sign_up.burst)
  vi.advanceTimersByTime(100)
  const { remaining, retryAfterS } = first.peek(limits.sign_up, 'a')
  expect(remaining).toBe(0)
  expect(retryAfterS).toBe(
    Math.ceil((limits.sign_up.burst + 1 - 0.1 * limits.sign_up.perSecond) / limits.sign_up.perSecond),
  )
})

test('a token that is given back is also given back in the other process', async () => {
  const [first, second] = pair()
  const held = await first.hold(limits.sign_in, 'a')
  vi.advanceTimersByTime(100)
  expect(second.peek(limits.sign_in, 'a').remaining).toBe(limits.sign_in.burst - 1)
  held.settle(false)
  vi.advanceTimersByTime(100)
  expect(second.peek(limits.sign_in, 'a').remaining).toBe(limits.sign_in.burst)
})

test('a bucket of an unknown limit is ignored', () => {
  const [first] = pair()
  expect(() => first.spend('nothing:a', 5)).not.toThrow()
})
