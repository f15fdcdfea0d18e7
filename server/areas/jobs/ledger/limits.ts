import type { JsonObject } from '#model/definition'
import type { RunError } from './run-error.ts'
import type { Run } from './runs.ts'

// The conditions that end a run early. The records that succeeded until then are still delivered.

/** The error rate is ignored before this number of records. */
const RATE_AFTER = 100

/**
 * Returns an error if the error rate of the job is exceeded. Considers only records that this run tried and that had
 * not failed in an earlier run. Skipped, waiting and retried records do not count.
 */
export function tooManyFailures(
  { stop_on_error_rate }: Pick<Run, 'stop_on_error_rate'>,
  { first_succeeded, first_failed }: Pick<Run, 'first_succeeded' | 'first_failed'>,
): RunError | undefined {
  const tried = first_succeeded + first_failed
  if (stop_on_error_rate === null || tried < RATE_AFTER) return undefined
  if (first_failed / tried <= stop_on_error_rate) return undefined
  const allowed = `more than the job allows (stop_on_error_rate ${stop_on_error_rate})`
  return { code: 'error_rate', message: `${first_failed} of ${tried} records failed, ${allowed}.` }
}

export type Spent = { tokens: number; cost: number }

const numberIn = (usage: JsonObject, name: string): number => {
  const value = Number(usage[name] ?? 0)
  return Number.isFinite(value) ? value : 0
}

export const spentOf = (usage: JsonObject | null): Spent =>
  usage === null
    ? { tokens: 0, cost: 0 }
    : { tokens: numberIn(usage, 'input_tokens') + numberIn(usage, 'output_tokens'), cost: numberIn(usage, 'cost') }

export const addSpent = (a: Spent, b: Spent): Spent => ({ tokens: a.tokens + b.tokens, cost: a.cost + b.cost })

type Caps = Pick<Run, 'max_cost' | 'max_tokens'>

export function capReached({ max_cost, max_tokens }: Caps, { tokens, cost }: Spent): RunError | undefined {
  if (max_cost !== null && cost >= max_cost)
    return {
      code: 'cost_limit',
      message: `The run cost ${cost}, which is more than max_cost (${max_cost}). Run the job again for the remaining records.`,
    }
  if (max_tokens !== null && tokens >= max_tokens)
    return {
      code: 'cost_limit',
      message: `The run used ${tokens} tokens, which is more than max_tokens (${max_tokens}). Run the job again for the remaining records.`,
    }
  return undefined
}

/** The number of concurrent records before the cost of one is known. */
const BLIND = 4

/**
 * Returns how many more executions may start without exceeding a limit, if each has the average cost so far. `ended`
 * counts the executions whose usage is in `spent`, `open` the started ones whose usage is not.
 */
export function startsUnderCap({ max_cost, max_tokens }: Caps, spent: Spent, ended: number, open: number): number {
  if (max_cost === null && max_tokens === null) return Number.POSITIVE_INFINITY
  if (ended === 0) return Math.max(0, BLIND - open)
  const room = (cap: number | null, used: number): number =>
    cap === null || used === 0 ? Number.POSITIVE_INFINITY : Math.ceil((cap - used) / (used / ended))
  return Math.max(0, Math.min(room(max_cost, spent.cost), room(max_tokens, spent.tokens)) - open)
}
