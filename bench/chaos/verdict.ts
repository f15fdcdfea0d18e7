import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import { DUPLICATES, GAPS, type Ledger } from './ledger.ts'
import type { PeopleLoad } from './people.ts'

/** One line of the table in docs/reliability.md. `lost`, `failed` and `hung` must be 0. */
export type Verdict = {
  fault: string
  seconds: number
  /** The number of acknowledged starts, votes and answers. */
  acknowledged: number
  lost: number
  failed: number
  hung: number
  times: number
  refused: PeopleLoad['refused']
  violations: string[]
}

/**
 * Executions that do not continue by themselves are repaired within a minute. If no execution ends for this long, the
 * remaining ones hang.
 */
const PATIENCE = 100 * SECOND

/** Waits until all executions have ended, and reports those that have not ended, failed or were lost. */
export async function judge(options: {
  fault: string
  begunAt: number
  /** An id that was created at the start of the fault: the ids of its executions are greater. */
  since: string
  times: number
  load: PeopleLoad
  ledger: Ledger
  more: string[]
}): Promise<Verdict> {
  const { fault, load, ledger } = options
  await load.startNoMore()
  const seconds = Math.round((performance.now() - options.begunAt) / SECOND)
  let left = Number.POSITIVE_INFINITY
  for (let since = performance.now(); left > 0 && performance.now() - since < PATIENCE; await delay(100)) {
    const unfinished = await ledger.unfinished()
    if (unfinished < left) {
      left = unfinished
      since = performance.now()
    }
  }
  await load.finish()
  const rows = await ledger.rows<{ execution_id: string; status: string; error: unknown; finished: boolean }>(
    'select execution_id, status, error, finished_at is not null as finished from executions where execution_id > $1',
    [options.since],
  )
  const known = new Map(rows.map((row) => [row.execution_id, row]))
  const lost = load.started.filter((id) => !known.has(id))
  const failed = rows.filter(({ finished, status }) => finished && status !== 'succeeded')
  // If all had ended, the schedule has started the others since then.
  const hung = left === 0 ? [] : rows.filter(({ finished }) => !finished)
  const [health] = await ledger.rows<{ n: number }>('select count(*)::integer as n from engine.unaccounted()')
  const texts = async (sql: string): Promise<string[]> =>
    (await ledger.rows<{ what: string }>(`${sql} limit 10`)).map(({ what }) => what)
  const violations = [
    ...options.more,
    ...load.wrong.slice(0, 10),
    ...lost.slice(0, 10).map((id) => `acknowledged and lost: ${id}`),
    ...failed.slice(0, 10).map(({ execution_id, error }) => `failed: ${execution_id} ${JSON.stringify(error)}`),
    ...hung.slice(0, 10).map(({ execution_id, status }) => `hangs: ${execution_id} ${status}`),
    ...(await texts(DUPLICATES)),
    ...(await texts(GAPS)),
    ...(health!.n > 0 ? [`${health!.n} executions are unaccounted for`] : []),
  ]
  if (load.started.length === 0) violations.push('nothing was acknowledged: that proves nothing')
  return {
    fault,
    seconds,
    acknowledged: load.started.length + load.votes + load.answers,
    lost: lost.length,
    failed: failed.length,
    hung: hung.length,
    times: options.times,
    refused: load.refused,
    violations,
  }
}
