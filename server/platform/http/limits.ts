// Token buckets in memory: each holds a burst and refills steadily. Idle buckets are forgotten.

export type Limit = { name: string; burst: number; perSecond: number }
export type Verdict = { allowed: boolean; limit: Limit; remaining: number; retryAfterS: number }

type Bucket = { tokens: number; at: number }
const MOST_BUCKETS = 100_000

export const limits = {
  general: { name: 'general', burst: 200, perSecond: 100 },
  workspace: { name: 'workspace', burst: 2000, perSecond: 1000 },
  address: { name: 'address', burst: 200, perSecond: 100 },
  sign_in: { name: 'sign-in', burst: 20, perSecond: 20 / 60 },
  sign_up: { name: 'sign-up', burst: 10, perSecond: 10 / 60 },
  visitor: { name: 'visitor', burst: 10, perSecond: 5 },
} satisfies Record<string, Limit>

export type RateLimiter = {
  /** Takes one token, or says how long to wait. */
  take(limit: Limit, key: string): Verdict
  /** What taking one would say. */
  look(limit: Limit, key: string): Verdict
  /** Gives a token back: a successful sign-in does not count as a failure. */
  giveBack(limit: Limit, key: string): void
}

export function makeRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, Bucket>()

  const fill = (limit: Limit, id: string): Bucket => {
    const at = now()
    const bucket = buckets.get(id) ?? { tokens: limit.burst, at }
    bucket.tokens = Math.min(limit.burst, bucket.tokens + ((at - bucket.at) / 1000) * limit.perSecond)
    bucket.at = at
    // Re-inserted, so that the map keeps the order of last use and the oldest can be dropped.
    buckets.delete(id)
    buckets.set(id, bucket)
    if (buckets.size > MOST_BUCKETS) buckets.delete(buckets.keys().next().value!)
    return bucket
  }

  const judge = (limit: Limit, key: string, cost: number): Verdict => {
    const bucket = fill(limit, `${limit.name}:${key}`)
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= cost
    return {
      allowed,
      limit,
      remaining: Math.floor(bucket.tokens),
      retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond)),
    }
  }

  return {
    take: (limit, key) => judge(limit, key, 1),
    look: (limit, key) => judge(limit, key, 0),
    giveBack(limit, key) {
      const bucket = fill(limit, `${limit.name}:${key}`)
      bucket.tokens = Math.min(limit.burst, bucket.tokens + 1)
    },
  }
}
