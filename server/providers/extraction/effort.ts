// A message is read on the thread that serves everybody: anyone who asks for much gets what a few hundredths of a second find,
// and the rest is missing. It is counted and not timed, so that the same message always gives the same values.

/** What may still be spent, in microseconds as measured. A message of everyday length against a dozen fields costs under 2,000. */
export type Effort = { left: number }

const IN_ALL = 12_000

export const newEffort = (): Effort => ({ left: IN_ALL })

/** False where less than that is left, beside what is kept for later; then it is not to be done. */
export const spend = (effort: Effort, cost: number, kept = 0): boolean => {
  if (cost > effort.left - kept) return false
  effort.left -= cost
  return true
}
