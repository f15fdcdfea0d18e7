import { describe, expect, test } from 'vitest'
import {
  makeExpiringCache,
  makeUnwrittenUsage,
  monthOf,
  passesLimit,
  periodOf,
  periodsAt,
  quotaExceeded,
} from './counting.ts'
import type { QuotaName, ResourceQuota } from './plan-schema.ts'

// The limits of a plan (docs/billing.md), without a database.

test.each<[number | null | undefined, number, number, boolean]>([
  [10, 0, 10, false],
  [10, 9, 1, false],
  [10, 10, 1, true],
  [10, 10, 0, false],
  [10, 0, 11, true],
  [0, 0, 1, true],
  [0, 0, 0, false],
  [null, 1_000, 1_000, false],
  [undefined, 1_000, 1_000, false],
])('with a limit of %s, %i used and %i more, the limit is exceeded: %s', (limit, used, adding, passed) => {
  expect(passesLimit(limit, used, adding)).toBe(passed)
})

test.each<[QuotaName | ResourceQuota, string]>([
  ['mails_per_minute', '2026-01-31T09:30'],
  ['outside_recipients_per_day', '2026-01-31'],
  ['model_tokens_per_month', '2026-01'],
  ['runs_per_month', '2026-01'],
  ['records', ''],
  ['storage_bytes', ''],
])('%s counts in the period "%s"', (quota, period) => {
  expect(periodOf(quota, Date.UTC(2026, 0, 31, 9, 30, 59))).toBe(period)
})

test('a time is in three current periods', () => {
  expect(periodsAt(Date.UTC(2026, 0, 31, 9, 30, 59))).toEqual(['2026-01-31T09:30', '2026-01-31', '2026-01'])
})

test.each([
  ['2026-01-31T23:59:59Z', '2026-01-01', '2026-02-01'],
  ['2026-12-01T00:00:00Z', '2026-12-01', '2027-01-01'],
])('the month of %s is from %s to %s', (now, start, end) => {
  expect(monthOf(new Date(now))).toEqual({ start: new Date(start), end: new Date(end) })
})

test('a refusal names the quota, its limit and what to do', () => {
  expect(quotaExceeded('records', 5, 'records', 'Remove something.')).toMatchObject({
    code: 'quota_exceeded',
    message: 'The quota records is used up: the plan allows 5 records. Remove something.',
  })
})

describe('a cached value', () => {
  const make = (max = 2) => {
    let now = 1_000
    return {
      believed: makeExpiringCache<string>({ forMs: 100, max, now: () => now }),
      pass: (ms: number) => (now += ms),
    }
  }
  test('is valid until it expires, and can still be peeked at after that', () => {
    const { believed, pass } = make()
    expect([believed.set('a', 'one'), believed.get('a')]).toEqual(['one', 'one'])
    pass(99)
    expect(believed.get('a')).toBe('one')
    pass(1)
    expect([believed.get('a'), believed.peek('a')]).toEqual([undefined, 'one'])
  })

  test('is removed by forget', () => {
    const { believed } = make()
    believed.set('a', 'one')
    believed.set('b', 'two')
    believed.forget('a')
    expect([believed.peek('a'), believed.get('b')]).toEqual([undefined, 'two'])
  })

  test('is evicted when there are too many values, the oldest first', () => {
    const { believed } = make()
    for (const key of ['a', 'b', 'a', 'c']) believed.set(key, key)
    expect(['a', 'b', 'c'].map((key) => believed.get(key))).toEqual(['a', undefined, 'c'])
  })
})

describe('usage that is not written yet', () => {
  const runs = (workspaceId: string, amount: number) => ({ workspaceId, quota: 'runs', period: '2026-01', amount })

  test('is summed by workspace, quota and period', () => {
    const usage = makeUnwrittenUsage()
    usage.add(runs('w1', 2))
    usage.add(runs('w1', 3))
    usage.add(runs('w2', 7))
    usage.add({ ...runs('w1', 1), quota: 'mails' })
    usage.add({ ...runs('w1', 1), period: '2026-02' })
    usage.add(runs('w1', -1))
    expect([usage.amountOf(runs('w1', 0)), usage.amountOf(runs('w2', 0)), usage.amountOf(runs('w3', 0))]).toEqual([
      4, 7, 0,
    ])
  })

  test('is written once', async () => {
    const usage = makeUnwrittenUsage()
    const written: unknown[] = []
    const write = async (all: unknown[]): Promise<void> => void written.push(all)
    usage.add(runs('w1', 2))
    usage.add(runs('w2', 3))
    await usage.flush(write)
    await usage.flush(write)
    expect(written).toEqual([[runs('w1', 2), runs('w2', 3)]])
    expect(usage.amountOf(runs('w1', 0))).toBe(0)
  })

  test('is kept when writing fails, together with usage added in the meantime', async () => {
    const usage = makeUnwrittenUsage()
    usage.add(runs('w1', 2))
    usage.add(runs('w2', 5))
    const failing = usage.flush(async () => {
      usage.add(runs('w1', 3))
      throw new Error('no database')
    })
    await expect(failing).rejects.toThrow('no database')
    expect([usage.amountOf(runs('w1', 0)), usage.amountOf(runs('w2', 0))]).toEqual([5, 5])
    const written: unknown[] = []
    await usage.flush(async (all) => void written.push(...all))
    expect(written).toEqual(expect.arrayContaining([runs('w1', 5), runs('w2', 5)]))
  })
})
