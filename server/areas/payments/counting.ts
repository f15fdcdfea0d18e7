import { MINUTE } from '#platform/clock'
import { problem } from '#platform/errors'
import type { QuotaName, ResourceCounter } from './plan-schema.ts'

// Counts usage in memory and compares it with a plan, without a database and without its own clock.

export type Spent = { workspaceId: string; quota: string; period: string; amount: number }

/** Checks whether `adding` more would exceed the limit. Null or undefined means no limit. */
export const passesLimit = (limit: number | null | undefined, used: number, adding: number): limit is number =>
  limit != null && used + adding > limit

const PERIODS: [ending: string, length: number][] = [
  ['_minute', 'YYYY-MM-DDTHH:MM'.length],
  ['_day', 'YYYY-MM-DD'.length],
  ['_month', 'YYYY-MM'.length],
]

let written = { minute: Number.NaN, text: '' }

/** Returns the minute as ISO text. Cached for the minute, since every start of an execution needs it. */
function minuteText(now: number): string {
  const minute = Math.floor(now / MINUTE)
  if (minute !== written.minute) written = { minute, text: new Date(minute * MINUTE).toISOString() }
  return written.text
}

/** Returns the minute, day or month in which a quota counts at this time. Empty for a quota of current totals. */
export const periodOf = (quota: QuotaName | ResourceCounter, now: number): string => {
  const length = PERIODS.find(([ending]) => quota.endsWith(ending))?.[1] ?? 0
  return minuteText(now).slice(0, length)
}

/** Returns the current minute, day and month. */
export const periodsAt = (now: number): string[] =>
  PERIODS.map(([, length]) => new Date(now).toISOString().slice(0, length))

/** Returns the calendar month of this time, in UTC. */
export const monthOf = (now: Date): { start: Date; end: Date } => ({
  start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)),
  end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
})

export const quotaExceeded = (quota: string, limit: number, title: string, remedy: string) =>
  problem('quota_exceeded', `The quota ${quota} is used up: the plan allows ${limit} ${title}. ${remedy}`)

/** Refuses with the reason for which an operator suspended the workspace: "used up" would not explain a quota of 0. */
export function refuseSuspended({ suspended }: { suspended?: string }): void {
  if (suspended !== undefined)
    throw problem('quota_exceeded', `An operator of this installation has suspended the workspace: ${suspended}`, {
      title: 'The workspace is suspended',
    })
}

/** A cache whose values expire after `forMs`. If there are more than `max` values, the oldest is removed. */
export function makeExpiringCache<T>({ forMs, max, now }: { forMs: number; max: number; now: () => number }) {
  const known = new Map<string, { at: number; value: T }>()
  return {
    /** Returns a value that has not expired. */
    get(key: string): T | undefined {
      const found = known.get(key)
      return found && now() - found.at < forMs ? found.value : undefined
    },
    /** Returns a value even if it has expired. */
    peek: (key: string): T | undefined => known.get(key)?.value,
    set(key: string, value: T): T {
      known.delete(key)
      known.set(key, { at: now(), value })
      if (known.size > max) known.delete(known.keys().next().value!)
      return value
    },
    forget: (key: string): void => void known.delete(key),
  }
}

/** Usage that this process has not written yet. */
export function makeUnwrittenUsage() {
  let unwritten = new Map<string, Spent>()
  const keyOf = ({ workspaceId, quota, period }: Omit<Spent, 'amount'>): string => `${workspaceId}|${quota}|${period}`
  const amountOf = (what: Omit<Spent, 'amount'>): number => unwritten.get(keyOf(what))?.amount ?? 0
  const add = (spent: Spent): void => {
    const key = keyOf(spent)
    const before = unwritten.get(key)
    if (before) before.amount += spent.amount
    else unwritten.set(key, { ...spent })
  }
  return {
    amountOf,
    add,
    /**
     * Passes all usage to `write`. If `write` fails, the usage is counted again, together with usage added in the
     * meantime.
     */
    async flush(write: (all: Spent[]) => Promise<void>): Promise<void> {
      if (unwritten.size === 0) return
      const all = [...unwritten.values()]
      unwritten = new Map()
      try {
        await write(all)
      } catch (error) {
        for (const spent of all) add(spent)
        throw error
      }
    },
  }
}
