import type { Peers } from '../peers.ts'
import type { RateLimiter } from './limits.ts'

// The limits hold for the program, not for each of its processes: every process tells the others what was taken of its
// buckets. Within one interval each process may let a burst of its own in; the next requests wait for all of it.

const TELL_EVERY_MS = 100
/** What a flood of new callers may put into one message. */
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
    peers.tell(TOPIC, [...taken])
    taken.clear()
  }, TELL_EVERY_MS).unref()
  peers.onTold(TOPIC, (value) => {
    for (const [bucket, tokens] of value as [string, number][]) limiter.spend(bucket, tokens)
  })
}
