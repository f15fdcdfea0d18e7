import { expect, test } from 'vitest'
import { limitWords, thresholdOf } from './words.ts'

test.each([
  ['failure_rate', 20, 0.2, '20 % of runs'],
  ['failure_rate', 7, 0.07, '7 % of runs'],
  ['silence', 90, 5400, '90 minutes'],
  ['queue_age', 60, 60, '60 seconds'],
] as const)('%s: %d typed is %d, and reads "%s"', (kind, typed, threshold, words) => {
  expect(thresholdOf(kind, typed)).toBe(threshold)
  expect(limitWords({ kind, threshold })).toBe(words)
})
