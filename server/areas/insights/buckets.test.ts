import { describe, expect, test } from 'vitest'
import { bucketOf, percentilesOf } from './buckets.ts'

const histogramOf = (durations: number[]): Map<number, number> => {
  const histogram = new Map<number, number>()
  for (const ms of durations) histogram.set(bucketOf(ms), (histogram.get(bucketOf(ms)) ?? 0) + 1)
  return histogram
}

describe('buckets', () => {
  test.each([
    [-5, 0],
    [0, 0],
    [1, 0],
    [2, 4],
    [2.1, 5],
    [4, 8],
    [1000, 40],
    [Number.POSITIVE_INFINITY, 164],
  ])('%d ms stand in bucket %d', (ms, bucket) => expect(bucketOf(ms)).toBe(bucket))

  test('give percentiles that are at most a tenth off', () => {
    const durations = Array.from({ length: 10_000 }, (_, at) => (at + 1) * 7)
    const found = percentilesOf(histogramOf(durations))!
    for (const [share, ms] of [
      [0.5, found.p50],
      [0.95, found.p95],
      [0.99, found.p99],
    ] as const)
      expect(Math.abs(ms / (70_000 * share) - 1)).toBeLessThan(0.1)
  })

  test('of one run are that run, of none are null', () => {
    expect(percentilesOf(histogramOf([1]))).toEqual({ p50: 1, p95: 1, p99: 1 })
    expect(percentilesOf(new Map())).toBeNull()
    expect(percentilesOf(new Map([[3, 0]]))).toBeNull()
  })

  test('of a few slow ones among many show them at the top only', () => {
    const found = percentilesOf(histogramOf([...Array.from({ length: 98 }, () => 10), 10_000, 10_000]))!
    expect(found.p50).toBeLessThan(12)
    expect(found.p95).toBeLessThan(12)
    expect(found.p99).toBeGreaterThan(9_000)
  })
})
