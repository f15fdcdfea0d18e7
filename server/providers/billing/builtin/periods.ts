// Periods are counted from the anchor, never from the last end, so that a 31st does not permanently become a 28th.

export type Interval = 'month' | 'year'

function addMonths(anchor: Date, months: number): Date {
  const moved = new Date(anchor)
  moved.setUTCDate(1)
  moved.setUTCMonth(moved.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate()
  moved.setUTCDate(Math.min(anchor.getUTCDate(), lastDay))
  return moved
}

/** Returns the first end of a period, counted from the anchor, that is after `after`. */
export function periodEndAfter(anchor: Date, interval: Interval, after: Date): Date {
  const step = interval === 'year' ? 12 : 1
  let months = step
  while (addMonths(anchor, months) <= after) months += step
  return addMonths(anchor, months)
}
