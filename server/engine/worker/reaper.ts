import { SECOND } from '#platform/clock'

/** A worker whose heartbeat has not changed for this long, by the observer's monotonic clock, is dead. */
const DEAD_AFTER = 3 * SECOND
/** An observer that was itself stopped saw nothing in that time, so one observation never counts for more than this. */
const MAX_LOOK = 1 * SECOND

/** Watches heartbeats and returns the workers that have died. It never compares clocks of different machines. */
export const makeReaper = (now: () => number = () => performance.now()) => {
  const known = new Map<string, { beat: number; still: number }>()
  let lookedAt: number | undefined
  return {
    look: (beats: readonly [workerId: string, beat: number][], self: string): string[] => {
      const at = now()
      const passed = lookedAt === undefined ? 0 : Math.min(MAX_LOOK, at - lookedAt)
      lookedAt = at
      const dead: string[] = []
      const present = new Set<string>()
      for (const [workerId, beat] of beats) {
        present.add(workerId)
        const before = known.get(workerId)
        const still = before && before.beat === beat ? before.still + passed : 0
        known.set(workerId, { beat, still })
        if (workerId !== self && still >= DEAD_AFTER) dead.push(workerId)
      }
      for (const workerId of known.keys()) if (!present.has(workerId)) known.delete(workerId)
      return dead
    },
  }
}
