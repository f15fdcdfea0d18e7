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
  ])('puts %d ms into bucket %d', (ms, bucket) => expect(bucketOf(ms)).toBe(bucket))

  test('give percentiles with an error of at most a tenth', () => {
    const durations = Array.from({ length: 10_000 }, (_, at) => (at + 1) * 7)
    const found = percentilesOf(histogramOf(durations))!
    for (const [share, ms] of [
      [0.5, found.p50],
      [0.95, found.p95],
      [0.99, found.p99],
    ] as const)
      expect(Math.abs(ms / (70_000 * share) - 1)).toBeLessThan(0.1)
  })

  test('give the duration itself for one execution, and null for none', () => {
    expect(percentilesOf(histogramOf([1]))).toEqual({ p50: 1, p95: 1, p99: 1 })
    expect(percentilesOf(new Map())).toBeNull()
    expect(percentilesOf(new Map([[3, 0]]))).toBeNull()
  })

  test('show a few slow executions among many only in the highest percentile', () => {
    const found = percentilesOf(histogramOf([...Array.from({ length: 98 }, () => 10), 10_000, 10_000]))!
    expect(found.p50).toBeLessThan(12)
    expect(found.p95).toBeLessThan(12)
    expect(found.p99).toBeGreaterThan(9_000)
  })
})
