import { SECOND } from '#platform/clock'
import { makeBenchPerson, makeHook } from '../world.ts'
import { makeEnvironment } from './environment.ts'
import { type FaultContext, killDatabase, killOneOfTwo, killServer, killTheOnlyOne, stopUntilDead } from './faults.ts'
import { startLoad } from './load.ts'

// A test scenario of failures: executions with external effects are continuously started through HTTP while processes
// and the database are killed. The scenario counts only if enough starts were acknowledged, and every acknowledged
// execution must have ended as expected.

export type Plan = {
  seed: number
  callers: number
  restMs: number
  /** The minimum number of acknowledged starts. A scenario with fewer proves nothing. */
  leastAcknowledged: number
  oneOfTwo: number
  theOnlyOne: number
  servers: number
  stops: number
  databases: number
  /** The maximum time that a dead worker's executions may wait. Not checked if absent, for machines with other load. */
  takeoverMs?: number
  say?(line: string): void
}

export type Outcome = {
  seed: number
  acknowledged: number
  effects: number
  repeated_effects: number
  refused: { unavailable: number; unreachable: number }
  kills: { workers: number; servers: number; databases: number; stops: number }
  takeover_ms: { median: number; longest: number; executions: number }
  only_worker_takeover_ms: { median: number; longest: number; executions: number }
  database_back_ms: { median: number; longest: number }
  violations: string[]
}

export const definitionFor = (target: string) => {
  const effect = (id: string) => ({
    id,
    type: 'http.request',
    args: { method: 'POST', url: `${target}/${id}`, json: { n: { $ref: 'input.n' } } },
  })
  return {
    nodes: [
      effect('first'),
      { id: 'once', type: 'once', args: { value: { $ref: 'input.n' } }, on_error: 'continue' },
      effect('last'),
    ],
    edges: [
      { from: { node: 'first' }, to: 'once' },
      { from: { node: 'once' }, to: 'last' },
    ],
    output: { $ref: 'input.n' },
  }
}

export const spread = (values: number[]) => {
  const sorted = values.map(Math.round).sort((a, b) => a - b)
  return { median: sorted[sorted.length >> 1] ?? 0, longest: sorted.at(-1) ?? 0 }
}

type Fault = 'one' | 'only' | 'server' | 'stop' | 'database'

const shuffled = (plan: Plan, random: () => number): Fault[] => {
  const faults: Fault[] = [
    ...Array<Fault>(plan.oneOfTwo).fill('one'),
    ...Array<Fault>(plan.theOnlyOne).fill('only'),
    ...Array<Fault>(plan.servers).fill('server'),
    ...Array<Fault>(plan.stops).fill('stop'),
    ...Array<Fault>(plan.databases).fill('database'),
  ]
  for (let at = faults.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1))
    ;[faults[at], faults[other]] = [faults[other]!, faults[at]!]
  }
  return faults
}

export async function runScenario(plan: Plan): Promise<Outcome> {
  const say = plan.say ?? (() => {})
  const { random, effects, database, fleet, ledger, clear } = await makeEnvironment(plan.seed)
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
      restMs: plan.restMs,
      seed: `rehearsal-${plan.seed}`,
    })
    const stage: FaultContext = { database, fleet, ledger, load, effects, random }
    const takeovers = { one: [] as number[], only: [] as number[], oneHeld: 0, onlyHeld: 0 }
    const backs: number[] = []
    const violations: string[] = []
    const faults = shuffled(plan, random)
    const step = plan.leastAcknowledged / (faults.length + 1)
    for (const [n, fault] of faults.entries()) {
      // Faults are spread over the work; if the work is fast, they follow each other at random moments.
      while (load.acknowledged.length < step * (n + 1)) await new Promise((resolve) => setTimeout(resolve, 20))
      await new Promise((resolve) => setTimeout(resolve, random() * SECOND))
      if (fault === 'one') {
        const { held, ms } = await killOneOfTwo(stage)
        takeovers.oneHeld += held
        if (held > 0) takeovers.one.push(ms)
        say(`one of two workers killed with ${held} executions, taken over in ${Math.round(ms)} ms`)
      } else if (fault === 'only') {
        const { held, ms } = await killTheOnlyOne(stage)
        takeovers.onlyHeld += held
        if (held > 0) takeovers.only.push(ms)
        say(`all workers killed with ${held} executions, taken over ${Math.round(ms)} ms after there was one again`)
      } else if (fault === 'server') {
        await killServer(stage)
        say('the server killed')
      } else if (fault === 'stop') {
        const stopped = await stopUntilDead(stage)
        violations.push(...stopped.violations)
        say(`a worker stopped with ${stopped.held} executions until declared dead, then continued`)
      } else {
        const { down_ms, back_ms } = await killDatabase(stage)
        backs.push(back_ms)
        say(`the database killed, back after ${down_ms} ms, the next start acknowledged ${back_ms} ms later`)
      }
    }
    while (load.acknowledged.length < plan.leastAcknowledged) await new Promise((resolve) => setTimeout(resolve, 20))
    await load.finish()
    const left = await ledger.settled(60 * SECOND)
    if (left > 0) violations.push(`${left} executions have not ended`)
    violations.push(...load.wrong, ...fleet.fallen(), ...(await ledger.violations(load.acknowledged, effects)))
    const slow = [...takeovers.one, ...takeovers.only].filter(
      (ms) => ms > (plan.takeoverMs ?? Number.POSITIVE_INFINITY),
    )
    if (slow.length > 0) violations.push(`${slow.length} takeovers took longer than ${plan.takeoverMs} ms`)
    return {
      seed: plan.seed,
      acknowledged: load.acknowledged.length,
      effects: effects.arrived.size,
      repeated_effects: [...effects.arrived.values()].filter(({ times }) => times > 1).length,
      refused: load.refusals,
      kills: {
        workers: plan.oneOfTwo + plan.theOnlyOne,
        servers: plan.servers,
        databases: plan.databases,
        stops: plan.stops,
      },
      takeover_ms: { ...spread(takeovers.one), executions: takeovers.oneHeld },
      only_worker_takeover_ms: { ...spread(takeovers.only), executions: takeovers.onlyHeld },
      database_back_ms: spread(backs),
      violations,
    }
  } finally {
    await clear()
  }
}
