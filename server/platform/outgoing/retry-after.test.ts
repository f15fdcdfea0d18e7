import { expect, test } from 'vitest'
import { retryAfterS } from './retry-after.ts'

const NOW = Date.parse('2026-01-31T09:30:00Z')
const DATE = 'Sat, 31 Jan 2026 09:00:00 GMT'

test.each<[string, string | undefined, string | undefined, number | undefined]>([
  ['a missing header', undefined, undefined, undefined],
  ['seconds', '120', undefined, 120],
  ['seconds with spaces', ' 7 ', undefined, 7],
  ['a fraction of a second', '0.5', undefined, 0.5],
  ['zero seconds', '0', undefined, 0],
  ['more than a day', '99999999', undefined, 86_400],
  ['a date, relative to the date of the response', 'Sat, 31 Jan 2026 09:01:00 GMT', DATE, 60],
  ['a date, relative to the local clock', 'Sat, 31 Jan 2026 09:31:00 GMT', undefined, 60],
  ['a date, if the date of the response is invalid', 'Sat, 31 Jan 2026 09:31:00 GMT', 'yesterday', 60],
  ['a date in the past', 'Sat, 31 Jan 2026 08:00:00 GMT', DATE, 0],
  ['a date a year later', 'Sun, 31 Jan 2027 09:00:00 GMT', DATE, 86_400],
  ['an invalid value', 'soon', undefined, undefined],
  ['a negative number', '-5', undefined, undefined],
  ['only spaces', '  ', undefined, undefined],
])('retryAfterS handles %s', (_case, header, date, expected) => {
  expect(retryAfterS(header, date, NOW)).toBe(expected)
})
