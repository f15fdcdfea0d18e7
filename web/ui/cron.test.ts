import { expect, test } from 'vitest'
import { cronInWords } from './cron.ts'

test.each([
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['0 * * * *', 'every hour'],
  ['15 * * * *', 'every hour, at 15 past'],
  ['0 */6 * * *', 'every 6 hours'],
  ['30 9 * * *', 'every day at 09:30'],
  ['0 9 * * 1-5', 'on weekdays at 09:00'],
  ['0 9 * * 1,3,5', 'on Monday, Wednesday and Friday at 09:00'],
  ['0 9 * * 7', 'on Sunday at 09:00'],
  ['0 0 1 * *', 'on the 1st of every month at 00:00'],
  ['0 0 12 * *', 'on the 12th of every month at 00:00'],
  ['0 0 1 1 *', 'at the times of “0 0 1 1 *”'],
  ['0 9-17 * * *', 'at the times of “0 9-17 * * *”'],
])('%s reads “%s”', (cron, words) => {
  expect(cronInWords(cron)).toBe(words)
})
