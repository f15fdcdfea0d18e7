// Durations are counted in buckets. Each bucket ends 2^(1/4) times later than the previous one, so a percentile is at
// most 9 % off, and a month of executions is a few hundred numbers instead of a million.

const PER_DOUBLING = 4
/** The last bucket, about 70 years. */
const LAST = 164

/** Bucket 0 covers durations up to a millisecond. */
export const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(LAST, Math.ceil(PER_DOUBLING * Math.log2(ms) - 1e-9))

/** The middle of a bucket, in milliseconds. */
const middleOf = (bucket: number): number => (bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / PER_DOUBLING))

/** The number of executions in each bucket. */
export type Histogram = ReadonlyMap<number, number>

export type Percentiles = { p50: number; p95: number; p99: number }

/** Returns null if the histogram is empty. */
export function percentilesOf(histogram: Histogram): Percentiles | null {
  const buckets = [...histogram].filter(([, runs]) => runs > 0).sort(([a], [b]) => a - b)
  const total = buckets.reduce((sum, [, runs]) => sum + runs, 0)
  if (total === 0) return null
  const at = (share: number): number => {
    let left = Math.ceil(total * share)
    for (const [bucket, runs] of buckets) {
      left -= runs
      if (left <= 0) return Math.round(middleOf(bucket))
    }
    return Math.round(middleOf(buckets.at(-1)![0]))
  }
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
