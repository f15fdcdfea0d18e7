import { SECOND } from '../clock.ts'

// Token buckets in memory: each allows a burst and refills steadily. Idle buckets are removed.

/** `atOnce`: the part of a burst that starts at once while other tenants send requests. The rest starts at `perSecond`. */
export type Limit = { name: string; burst: number; perSecond: number; atOnce?: number }
/** `waitMs`: how long an allowed request waits while other tenants send requests. */
export type Verdict = { allowed: boolean; limit: Limit; remaining: number; retryAfterS: number; waitMs: number }

/** A token that may be given back: `settle` decides whether the attempt counts. */
export type HeldToken = { verdict: Verdict; settle(counts: boolean): void }

type Bucket = { tokens: number; at: number }
const MAX_BUCKETS = 100_000

export const limits = {
  // A burst of 200 starts over 1,000 new connections kept two cores busy for 0.8 s.
  general: { name: 'general', burst: 200, perSecond: 100, atOnce: 20 },
  workspace: { name: 'workspace', burst: 2000, perSecond: 1000 },
  address: { name: 'address', burst: 200, perSecond: 100 },
  sign_in: { name: 'sign-in', burst: 20, perSecond: 20 / 60 },
  sign_up: { name: 'sign-up', burst: 10, perSecond: 10 / 60 },
  visitor: { name: 'visitor', burst: 10, perSecond: 5 },
} satisfies Record<string, Limit>

const byName = new Map<string, Limit>(Object.values(limits).map((limit) => [limit.name, limit]))

/** Returns the time until the bucket contains all tokens except those for requests that start at once. */
const waitOf = ({ burst, perSecond, atOnce = burst }: Limit, tokens: number): number =>
  Math.max(0, ((burst - atOnce - tokens) / perSecond) * SECOND)

export type RateLimiter = {
  /** Takes one token, or returns the time to wait. */
  take(limit: Limit, key: string): Verdict
  /** Returns the verdict of `take` without taking a token. */
  peek(limit: Limit, key: string): Verdict
  /**
   * Takes a token for an attempt that counts only if it fails. If no token is left but some are held, waits until those
   * are settled: no caller is refused because of others who succeed, and concurrent attempts cannot fail more often
   * than sequential ones.
   */
  hold(limit: Limit, key: string): Promise<HeldToken>
  /** Calls `report` for every token that is taken. A negative number means that tokens are given back. */
  onSpent(report: (bucket: string, tokens: number) => void): void
  /**
   * Counts tokens that other processes took. Together they may have taken more than available; the bucket then stays
   * empty for longer.
   */
  spend(bucket: string, tokens: number): void
}

export function makeRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, Bucket>()
  let spent: (bucket: string, tokens: number) => void = () => {}

  const fill = (limit: Limit, id: string): Bucket => {
    const at = now()
    const bucket = buckets.get(id) ?? { tokens: limit.burst, at }
    bucket.tokens = Math.min(limit.burst, bucket.tokens + ((at - bucket.at) / 1000) * limit.perSecond)
    bucket.at = at
    // The entry is re-inserted, so that the map keeps the order of last use and the oldest entry can be dropped.
    buckets.delete(id)
    buckets.set(id, bucket)
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value!)
    return bucket
  }

  const judge = (limit: Limit, key: string, cost: number): Verdict => {
    const id = `${limit.name}:${key}`
    const bucket = fill(limit, id)
    const allowed = bucket.tokens >= 1
    if (allowed && cost > 0) {
      bucket.tokens -= cost
      spent(id, cost)
    }
    return {
      allowed,
      limit,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond)),
      waitMs: waitOf(limit, bucket.tokens),
    }
  }

  /** For each bucket with held tokens: their number, and the callers that wait for them. */
  const holds = new Map<string, { held: number; waiting: (() => void)[] }>()

  return {
    take: (limit, key) => judge(limit, key, 1),
    peek: (limit, key) => judge(limit, key, 0),
    onSpent(report) {
      spent = report
    },
    spend(id, tokens) {
      const limit = byName.get(id.slice(0, id.indexOf(':')))
      if (!limit) return
      const bucket = fill(limit, id)
      bucket.tokens = Math.max(-limit.burst, Math.min(limit.burst, bucket.tokens - tokens))
    },
    async hold(limit, key) {
      const id = `${limit.name}:${key}`
      for (;;) {
        const verdict = judge(limit, key, 1)
        const others = holds.get(id)
        if (!verdict.allowed) {
          if (!others) return { verdict, settle: () => {} }
          await new Promise<void>((resolve) => others.waiting.push(resolve))
          continue
        }
        const now = others ?? { held: 0, waiting: [] }
        now.held += 1
        holds.set(id, now)
        return {
          verdict,
          settle(counts) {
            now.held -= 1
            if (now.held === 0) holds.delete(id)
            if (!counts) {
              const bucket = fill(limit, id)
              bucket.tokens = Math.min(limit.burst, bucket.tokens + 1)
              spent(id, -1)
            }
            for (const peek of now.waiting.splice(0)) peek()
          },
        }
      }
    },
  }
}
