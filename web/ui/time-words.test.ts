import { expect, test } from 'vitest'
import { formatDuration, relativeTime, timesInWords } from './time-words.ts'

test('a duration is shown with its two largest units, and never as sixty of one unit', () => {
  expect([820, 4_240, 59_990, 60_000, 185_000, 119_999, 7_800_000, 200_000_000].map(formatDuration)).toEqual([
    '820 ms',
    '4.2 s',
    '59 s',
    '1 min 0 s',
    '3 min 5 s',
    '1 min 59 s',
    '2 h 10 min',
    '2 d 7 h',
  ])
})

test('timestamps in a text of the service become readable times', () => {
  const tomorrow = new Date(Date.now() + 86_400_000 + 5_000).toISOString()
  expect(timesInWords(`Due ${tomorrow}, at the latest`)).toBe('Due tomorrow, at the latest')
  expect(timesInWords('Nothing is due')).toBe('Nothing is due')
})

test('a time under a minute away is not shown in seconds', () => {
  const now = Date.now()
  expect(relativeTime(new Date(now - 3_000), now)).toBe('just now')
  expect(relativeTime(new Date(now - 30_000), now)).toBe('just now')
  expect(relativeTime(new Date(now + 30_000), now)).toBe('in under a minute')
})
