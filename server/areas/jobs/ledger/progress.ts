import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import type { Run } from './runs.ts'

export type Tally = Pick<Run, 'total' | 'running' | 'succeeded' | 'failed' | 'skipped' | 'filtered'>

export const countsOf = ({ total, running, succeeded, failed, skipped, filtered }: Tally) => ({
  pending: total - running - succeeded - failed - skipped - filtered,
  running,
  succeeded,
  failed,
  skipped,
  filtered,
})

const WINDOW = 10 * SECOND

/** Returns the counts, the recent rate in records per second, and the estimated end at that rate. */
export function makeProgress(run: Pick<Run, 'run_id'>) {
  const samples: { at: number; done: number }[] = []
  return (tally: Tally, now = Date.now()): JsonObject => {
    const done = tally.succeeded + tally.failed + tally.skipped + tally.filtered
    samples.push({ at: now, done })
    while (samples.length > 2 && now - samples[0]!.at > WINDOW) samples.shift()
    const oldest = samples[0]!
    const rate = now > oldest.at ? ((done - oldest.done) / (now - oldest.at)) * SECOND : 0
    const left = tally.total - done
    return {
      run_id: toWire('run', run.run_id),
      total: tally.total,
      counts: countsOf(tally),
      rate: Math.round(rate * 10) / 10,
      estimated_end_at: rate > 0 ? new Date(now + (left / rate) * SECOND).toISOString() : null,
    }
  }
}
