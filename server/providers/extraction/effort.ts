// Messages are read on the thread that serves all requests. A request that needs much work gets only the values found
// within a few hundredths of a second; the other values are reported as missing. The work is counted, not timed, so
// that the same message always gives the same values.

/**
 * The remaining budget, in microseconds according to measurements. A message of ordinary length for a dozen fields
 * costs less than 2,000.
 */
export type Effort = { left: number }

const IN_ALL = 12_000

export const newEffort = (): Effort => ({ left: IN_ALL })

/**
 * Deducts the cost from the budget. Returns false if the budget, less the reserve `kept`, is too small; the caller must
 * then skip the work.
 */
export const spend = (effort: Effort, cost: number, kept = 0): boolean => {
  if (cost > effort.left - kept) return false
  effort.left -= cost
  return true
}
