import { formatNumber } from '#web/ui/format.ts'
import { language, locale, t } from '#web/words/language.ts'

export const spans = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
]

const DAY = 24 * 60 * 60 * 1000
const stepOf = { hour: DAY / 24, day: DAY }

/**
 * Returns a range for the service: whole hours or days, of which the current one is the last. A rerendered page sends
 * the same request.
 */
export function rangeOf(days: number, now: number): { from: string; bucket: 'hour' | 'day' } {
  const bucket = days <= 2 ? 'hour' : 'day'
  const step = stepOf[bucket]
  return { from: new Date(Math.floor(now / step) * step + step - days * DAY).toISOString(), bucket }
}

/** Formats dollars with enough decimal places to show a nonzero amount. */
export function dollars(amount: number): string {
  const places = amount === 0 ? { maximumFractionDigits: 0 } : amount < 0.01 ? { maximumSignificantDigits: 2 } : {}
  return new Intl.NumberFormat(language, { style: 'currency', currency: 'USD', ...places }).format(amount)
}

/** Describes a cost. The cost of calls to a model without a price is unknown. */
export function costWords({
  cost,
  calls,
  unpriced_calls,
}: {
  cost: number
  calls: number
  unpriced_calls: number
}): string {
  if (calls > 0 && unpriced_calls === calls) return t('unknown')
  return unpriced_calls > 0 ? t('at least {0}', [dollars(cost)]) : dollars(cost)
}

export const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${formatNumber(Math.round((part / whole) * 1000) / 10)} %`

export type Bucket = { at: string | null; total: number; succeeded: number; failed: number; timed_out: number }
export type Column = { label: string; succeeded: number; failed: number; other: number }

const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Returns one column for each hour or day of the range, including those without an execution. */
export function columnsOf(items: readonly Bucket[], from: string, bucket: 'hour' | 'day', now: number): Column[] {
  const step = stepOf[bucket]
  const byTime = new Map(items.map((item) => [item.at === null ? Number.NaN : Date.parse(item.at), item]))
  const columns: Column[] = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at <= now; at += step) {
    const { total = 0, succeeded = 0, failed = 0, timed_out = 0 } = byTime.get(at) ?? {}
    const time = new Date(at).toISOString()
    columns.push({
      label: bucket === 'hour' ? time.slice(11, 16) : day.format(at),
      succeeded,
      failed: failed + timed_out,
      other: total - succeeded - failed - timed_out,
    })
  }
  return columns
}
