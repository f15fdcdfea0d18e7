import type { Peers } from '../peers.ts'
import type { RateLimiter } from './limits.ts'

// The limits apply to the program, not to each of its processes: every process tells the others which tokens were
// taken. Within one interval, each process may accept its own burst; the next requests then wait for the sum of all.

const TELL_EVERY_MS = 100
/** The maximum number of buckets in one message, in case of a flood of new callers. */
const MAX_BUCKETS_TOLD = 10_000

const TOPIC = 'spent'

export function shareSpending(limiter: RateLimiter, peers: Peers): void {
  if (peers.count === 1) return
  const taken = new Map<string, number>()
  limiter.onSpent((bucket, tokens) => {
    if (taken.size < MAX_BUCKETS_TOLD || taken.has(bucket)) taken.set(bucket, (taken.get(bucket) ?? 0) + tokens)
  })
  setInterval(() => {
    if (taken.size === 0) return
    peers.broadcast(TOPIC, [...taken])
    taken.clear()
  }, TELL_EVERY_MS).unref()
  peers.onBroadcast(TOPIC, (value) => {
    for (const [bucket, tokens] of value as [string, number][]) limiter.spend(bucket, tokens)
  })
}
