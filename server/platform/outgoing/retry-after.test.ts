import { expect, test } from 'vitest'
import { retryAfterS } from './retry-after.ts'

const NOW = Date.parse('2026-01-31T09:30:00Z')
const DATE = 'Sat, 31 Jan 2026 09:00:00 GMT'

test.each<[string, string | undefined, string | undefined, number | undefined]>([
  ['nothing', undefined, undefined, undefined],
  ['seconds', '120', undefined, 120],
  ['seconds with spaces', ' 7 ', undefined, 7],
  ['parts of a second', '0.5', undefined, 0.5],
  ['no time at all', '0', undefined, 0],
  ['more than a day', '99999999', undefined, 86_400],
  ['a date, held against the date of the answer', 'Sat, 31 Jan 2026 09:01:00 GMT', DATE, 60],
  ['a date, held against our clock', 'Sat, 31 Jan 2026 09:31:00 GMT', undefined, 60],
  ['a date, where the date of the answer is nonsense', 'Sat, 31 Jan 2026 09:31:00 GMT', 'yesterday', 60],
  ['a date that has passed', 'Sat, 31 Jan 2026 08:00:00 GMT', DATE, 0],
  ['a date in a year', 'Sun, 31 Jan 2027 09:00:00 GMT', DATE, 86_400],
  ['nonsense', 'soon', undefined, undefined],
  ['a negative number', '-5', undefined, undefined],
  ['nothing but spaces', '  ', undefined, undefined],
])('retryAfterS handles %s', (_case, header, date, expected) => {
  expect(retryAfterS(header, date, NOW)).toBe(expected)
})
