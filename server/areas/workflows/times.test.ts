import { describe, expect, test } from 'vitest'
import { catchUp, nextTimes, type Plan, timesBetween } from './times.ts'

const at = (text: string): Date => new Date(text)
const plan = (part: Partial<Plan>): Plan => ({
  cron: null,
  every_s: null,
  at: null,
  timezone: 'UTC',
  anchor: at('2026-01-01T00:00:00Z'),
  ...part,
})
const texts = (times: Date[]): string[] => times.map((time) => time.toISOString().replace(':00.000Z', 'Z'))

describe('the next times', () => {
  test.each<{ what: string; of: Partial<Plan>; after: string; times: string[] }>([
    {
      what: 'a cron pattern',
      of: { cron: '0 9 * * 1-5' },
      after: '2026-01-30T09:00:00Z',
      times: ['2026-02-02T09:00Z', '2026-02-03T09:00Z'],
    },
    // Clocks go forward from 02:00 to 03:00 on 29 March, and back from 03:00 to 02:00 on 25 October.
    {
      what: 'a time in a skipped hour: the first minute after it',
      of: { cron: '30 2 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-03-28T12:00:00Z',
      times: ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    },
    {
      what: 'a time in a repeated hour: only once',
      of: { cron: '30 2 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-10-24T12:00:00Z',
      times: ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    },
    {
      what: 'two times of day, one in a skipped hour: the first minute after it',
      of: { cron: '30 2,14 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-03-28T14:00:00Z',
      times: ['2026-03-29T01:00Z', '2026-03-29T12:30Z'],
    },
    {
      what: 'several times in a repeated hour: each only once, also if asked during the repetition',
      of: { cron: '15-45/30 2 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-10-25T00:15:00Z',
      times: ['2026-10-25T00:45Z', '2026-10-26T01:15Z'],
    },
    {
      what: 'a time in a repeated hour, asked during the repetition: the next day',
      of: { cron: '15,45 2 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-10-25T01:20:00Z',
      times: ['2026-10-26T01:15Z', '2026-10-26T01:45Z'],
    },
    {
      what: 'every hour: also in both of the repeated hours',
      of: { cron: '30 * * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-10-25T00:00:00Z',
      times: ['2026-10-25T00:30Z', '2026-10-25T01:30Z'],
    },
    {
      what: 'the same time of day before and after a clock change',
      of: { cron: '0 9 * * *', timezone: 'Europe/Amsterdam' },
      after: '2026-03-27T12:00:00Z',
      times: ['2026-03-28T08:00Z', '2026-03-29T07:00Z'],
    },
    {
      what: 'a zone whose midnight is skipped',
      of: { cron: '0 0 * * *', timezone: 'America/Santiago' },
      after: '2026-09-05T12:00:00Z',
      times: ['2026-09-06T04:00Z', '2026-09-07T03:00Z'],
    },
    {
      what: 'a zone without daylight saving',
      of: { cron: '0 9 * * *', timezone: 'Asia/Kolkata' },
      after: '2026-03-28T12:00:00Z',
      times: ['2026-03-29T03:30Z', '2026-03-30T03:30Z'],
    },
    {
      what: 'an interval: counted from its anchor, regardless of clock changes',
      of: { every_s: 5400 },
      after: '2026-01-01T02:00:00Z',
      times: ['2026-01-01T03:00Z', '2026-01-01T04:30Z'],
    },
    {
      what: 'an interval, asked at one of its times: the next time',
      of: { every_s: 3600 },
      after: '2026-01-01T02:00:00Z',
      times: ['2026-01-01T03:00Z', '2026-01-01T04:00Z'],
    },
    {
      what: 'a single time in the future',
      of: { at: at('2026-05-01T00:00:00Z') },
      after: '2026-01-01T00:00:00Z',
      times: ['2026-05-01T00:00Z'],
    },
    {
      what: 'a single time in the past',
      of: { at: at('2026-05-01T00:00:00Z') },
      after: '2026-05-01T00:00:00Z',
      times: [],
    },
    {
      what: 'a leap day',
      of: { cron: '0 0 29 2 *' },
      after: '2026-01-01T00:00:00Z',
      times: ['2028-02-29T00:00Z', '2032-02-29T00:00Z'],
    },
  ])('of $what', ({ of, after, times }) => {
    expect(texts(nextTimes(plan(of), at(after), 2))).toEqual(times)
  })
})

describe('the times between two moments', () => {
  test('include the first moment but not the last; one more than the limit shows that there are more', () => {
    const hourly = plan({ cron: '0 * * * *' })
    const [from, to] = [at('2026-01-01T00:00:00Z'), at('2026-01-01T03:00:00Z')]
    expect(texts(timesBetween(hourly, from, to, 10))).toEqual([
      '2026-01-01T00:00Z',
      '2026-01-01T01:00Z',
      '2026-01-01T02:00Z',
    ])
    expect(timesBetween(hourly, from, to, 2)).toHaveLength(3)
    expect(timesBetween(hourly, to, from, 10)).toEqual([])
  })
})

describe('missed times', () => {
  const hourly = plan({ cron: '0 * * * *' })
  test.each<{ rule: 'none' | 'last' | 'all'; due: string; now: string; runFor: string | null; after: string }>([
    {
      rule: 'none',
      due: '2026-01-01T01:00:00Z',
      now: '2026-01-01T01:00:05Z',
      runFor: '2026-01-01T01:00Z',
      after: '2026-01-01T01:00:05.000Z',
    },
    {
      rule: 'none',
      due: '2026-01-01T01:00:00Z',
      now: '2026-01-01T04:30:00Z',
      runFor: null,
      after: '2026-01-01T04:30Z',
    },
    {
      rule: 'none',
      due: '2026-01-01T01:00:00Z',
      now: '2026-01-01T04:00:30Z',
      runFor: '2026-01-01T04:00Z',
      after: '2026-01-01T04:00:30.000Z',
    },
    {
      rule: 'last',
      due: '2026-01-01T01:00:00Z',
      now: '2026-01-01T04:30:00Z',
      runFor: '2026-01-01T04:00Z',
      after: '2026-01-01T04:30Z',
    },
    {
      rule: 'last',
      due: '2025-01-01T01:00:00Z',
      now: '2026-01-01T04:30:00Z',
      runFor: '2026-01-01T04:00Z',
      after: '2026-01-01T04:30Z',
    },
    {
      rule: 'all',
      due: '2026-01-01T01:00:00Z',
      now: '2026-01-01T04:30:00Z',
      runFor: '2026-01-01T01:00Z',
      after: '2026-01-01T01:00Z',
    },
    {
      rule: 'all',
      due: '2025-01-01T01:00:00Z',
      now: '2026-01-08T00:30:00Z',
      runFor: '2026-01-01T01:00Z',
      after: '2026-01-01T01:00Z',
    },
  ])('with $rule, due $due, at $now: run for $runFor', ({ rule, due, now, runFor, after }) => {
    const found = catchUp(hourly, rule, { due: at(due), now: at(now) })
    expect({ runFor: found.runFor && texts([found.runFor])[0], after: texts([found.after])[0] }).toEqual({
      runFor,
      after,
    })
  })

  test.each(['none', 'last', 'all'] as const)('with %s: a single moment runs once or not at all', (rule) => {
    const once = plan({ at: at('2026-01-01T01:00:00Z') })
    const found = catchUp(once, rule, { due: at('2026-01-01T01:00:00Z'), now: at('2026-01-02T00:00:00Z') })
    expect(found.runFor === null).toBe(rule === 'none')
  })
})
