import { MINUTE, SECOND } from '#platform/clock'
import { makeBenchPerson, makeHook } from '../world.ts'
import { makeEnvironment } from './environment.ts'
import { type FaultContext, killDatabase } from './faults.ts'
import { startLoad } from './load.ts'
import { definitionFor, spread } from './scenario.ts'

// Kills only the database, repeatedly, at random moments: no process may end, callers get only 503 with Retry-After,
// work continues within three seconds after the database is back, and nothing is lost.

export type DatabasePlan = {
  seed: number
  kills: number
  minutes: number
  callers: number
  /** The minimum number of acknowledged starts. A scenario with fewer proves nothing. */
  leastAcknowledged: number
  /** The maximum time until a start is acknowledged, and until an execution ends, after the database is back. */
  backMs?: number
  say?(line: string): void
}

export type DatabaseOutcome = {
  seed: number
  minutes: number
  databases: number
  acknowledged: number
  repeated_effects: number
  refused: { unavailable: number; unreachable: number }
  reads: { answered: number; unavailable: number }
  down_ms: { median: number; longest: number }
  next_start_ms: { median: number; longest: number }
  next_end_ms: { median: number; longest: number }
  violations: string[]
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Starts a client that reads continuously. Every response but 200 and 503 with Retry-After counts as wrong. */
function startReading(url: () => string, key: string) {
  const seen = { answered: 0, unavailable: 0 }
  const wrong: string[] = []
  let over = false
  const read = async (): Promise<void> => {
    while (!over) {
      try {
        const response = await fetch(url(), { headers: { authorization: `Bearer ${key}` } })
        const text = await response.text()
        if (response.status === 200) seen.answered += 1
        else if (response.status === 503 && response.headers.has('retry-after')) seen.unavailable += 1
        else wrong.push(`reading: ${response.status} ${text.slice(0, 300)}`)
      } catch (error) {
        wrong.push(`reading: no answer (${String(error)})`)
      }
      await pause(20)
    }
  }
  const reading = read()
  return {
    seen,
    wrong,
    finish: (): Promise<void> => {
      over = true
      return reading
    },
  }
}

export async function runDatabases(plan: DatabasePlan): Promise<DatabaseOutcome> {
  const say = plan.say ?? (() => {})
  const { random, effects, database, fleet, ledger, clear } = await makeEnvironment(plan.seed)
  const ended = async (): Promise<number> =>
    (
      await ledger.rows<{ n: number }>('select count(*)::integer as n from executions where finished_at is not null')
    )[0]!.n
  try {
    const { key } = await makeBenchPerson(database)
    await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    const hook = await makeHook(fleet.api().base, key, definitionFor(effects.base))
    const load = startLoad({
      base: () => fleet.api().base,
      unfinished: ledger.unfinished,
      path: new URL(hook.url).pathname,
      token: hook.token,
      callers: plan.callers,
      restMs: 50,
      seed: `databases-${plan.seed}`,
    })
    const reader = startReading(() => `${fleet.api().base}/api/workflows`, key)
    const stage: FaultContext = { database, fleet, ledger, load, effects, random }
    const [downs, starts, ends]: number[][] = [[], [], []]
    const between = (plan.minutes * MINUTE) / plan.kills
    for (let n = 0; n < plan.kills; n += 1) {
      const next = performance.now() + between
      await pause(random() * between * 0.5)
      const { down_ms, back_ms } = await killDatabase(stage)
      const since = performance.now() - back_ms
      const before = await ended()
      while ((await ended()) === before) await pause(25)
      const end_ms = performance.now() - since
      downs!.push(down_ms)
      starts!.push(back_ms)
      ends!.push(end_ms)
      say(`${n + 1}: down ${down_ms} ms, next start after ${back_ms} ms, next end after ${Math.round(end_ms)} ms`)
      await pause(next - performance.now())
    }
    while (load.acknowledged.length < plan.leastAcknowledged) await pause(20)
    await Promise.all([load.finish(), reader.finish()])
    const left = await ledger.settled(60 * SECOND)
    const violations = [...load.wrong, ...reader.wrong, ...fleet.fallen()]
    if (left > 0) violations.push(`${left} executions have not ended`)
    if (load.refusals.unreachable > 0) violations.push(`${load.refusals.unreachable} callers got no answer`)
    const slow = [...starts!, ...ends!].filter((ms) => ms > (plan.backMs ?? Number.POSITIVE_INFINITY))
    if (slow.length > 0) violations.push(`${slow.length} times it took longer than ${plan.backMs} ms to go on`)
    violations.push(...(await ledger.violations(load.acknowledged, effects)))
    return {
      seed: plan.seed,
      minutes: plan.minutes,
      databases: plan.kills,
      acknowledged: load.acknowledged.length,
      repeated_effects: [...effects.arrived.values()].filter(({ times }) => times > 1).length,
      refused: load.refusals,
      reads: reader.seen,
      down_ms: spread(downs!),
      next_start_ms: spread(starts!),
      next_end_ms: spread(ends!),
      violations: violations.slice(0, 40),
    }
  } finally {
    await clear()
  }
}
