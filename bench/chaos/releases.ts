import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RELEASE } from '#model/release'
import { SECOND } from '#platform/clock'
import { migrate } from '#platform/db/migrate'
import { makeLogger } from '#platform/log'
import type { BenchDatabase } from '../database.ts'
import { makeBenchPerson, makeHook } from '../world.ts'
import { makeEnvironment } from './environment.ts'
import { type Load, startLoad } from './load.ts'
import { definitionFor } from './scenario.ts'

// A rolling update under load: the next release changes the database, adds a node type that the current release does
// not know, and replaces the processes one by one while callers use both releases. No execution may fail, and none may
// be claimed twice.

export type ReleasePlan = {
  seed: number
  callers: number
  /** The number of acknowledged starts between the steps of the update. */
  perStep: number
  say?(line: string): void
}

export type ReleaseOutcome = {
  seed: number
  acknowledged: number
  of_new_types: number
  left_to_newer: number
  refused: { unavailable: number; unreachable: number }
  violations: string[]
}

/** How long a busy machine may take. */
const PATIENCE = 60 * SECOND

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')

const NEXT = { HEDDLE_BENCH_RELEASE: String(RELEASE + 1) }

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** An example of an allowed migration of the next release: it only adds columns, to several tables in use. */
const NEXT_MIGRATION = `-- Breaks nothing: new columns.
    alter table executions add column of_next_release integer not null default 0;
    alter table events add column of_next_release integer;
    alter table workers add column of_next_release text;
    alter table workflows add column of_next_release text;
    alter table workflow_versions add column of_next_release text;
    alter table webhook_tokens add column of_next_release text;`

async function migrateToNext(database: BenchDatabase): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-next-'))
  try {
    await cp(MIGRATIONS, directory, { recursive: true })
    await writeFile(join(directory, '9999_next.sql'), NEXT_MIGRATION)
    await migrate({ ownerUrl: database.urls.owner, directory, log: makeLogger('silent') })
  } finally {
    await rm(directory, { recursive: true })
  }
}

export async function runReleases(plan: ReleasePlan): Promise<ReleaseOutcome> {
  const say = plan.say ?? (() => {})
  const { random, effects, database, fleet, ledger, clear } = await makeEnvironment(plan.seed)
  const violations: string[] = []
  const loads: Load[] = []
  let leftToNewer = 0
  try {
    const { key } = await makeBenchPerson(database)
    const old = await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    const load = async (definition: unknown): Promise<Load> => {
      const hook = await makeHook(fleet.api().base, key, definition)
      const begun = startLoad({
        base: () => {
          const apis = fleet.apis()
          return apis[Math.floor(random() * apis.length)]!.base
        },
        unfinished: ledger.unfinished,
        path: new URL(hook.url).pathname,
        token: hook.token,
        callers: plan.callers,
        restMs: 10,
        seed: `releases-${plan.seed}-${loads.length}`,
      })
      loads.push(begun)
      return begun
    }
    const step = async (what: string, do_: () => Promise<unknown>): Promise<void> => {
      await do_()
      say(what)
      const enough = loads.map(({ acknowledged }) => acknowledged.length + plan.perStep)
      while (loads.some(({ acknowledged }, n) => acknowledged.length < enough[n]!)) await pause(20)
    }
    const retire = async (which: number): Promise<void> => void violations.push(...(await fleet.retire(old[which]!)))
    const plain = definitionFor(effects.base)
    const nodes = plain.nodes.map((node) =>
      node.id === 'once' ? { id: 'once', type: 'later', args: { value: { $ref: 'input.n' } } } : node,
    )
    await step('the present release works', () => load(plain))
    await step('the next release has changed the database', () => migrateToNext(database))
    await step('requests are answered by both releases', () => fleet.start('api', NEXT))
    await step('workflows of the next release are run; only old workers are there', async () => {
      await load({ ...plain, nodes })
      for (const since = performance.now(); leftToNewer === 0 && performance.now() - since < PATIENCE; ) {
        await pause(2 * SECOND)
        const left = await ledger.rows<{ n: number }>(
          `select count(*)::integer as n from executions where waiting_for @> '[{"reason": "newer_release"}]'`,
        )
        leftToNewer = left[0]!.n
      }
      await fleet.start('worker', NEXT)
    })
    await step('an old worker was replaced', () => retire(1))
    await step('the old server was replaced', () => retire(0))
    await step('a second worker of the next release', () => fleet.start('worker', NEXT))
    await step('the last process of the old release has ended', () => retire(2))
    await Promise.all(loads.map((one) => one.finish()))
    const left = await ledger.settled(PATIENCE)
    if (left > 0) violations.push(`${left} executions have not ended`)
    if (leftToNewer === 0) violations.push('nothing was left to the newer release: that was not rehearsed')
    const acknowledged = loads.flatMap((one) => one.acknowledged)
    violations.push(...loads.flatMap(({ wrong }) => wrong), ...fleet.fallen())
    violations.push(...(await ledger.violations(acknowledged, effects)))
    return {
      seed: plan.seed,
      acknowledged: acknowledged.length,
      of_new_types: loads[1]?.acknowledged.length ?? 0,
      left_to_newer: leftToNewer,
      refused: {
        unavailable: loads.reduce((sum, { refusals }) => sum + refusals.unavailable, 0),
        unreachable: loads.reduce((sum, { refusals }) => sum + refusals.unreachable, 0),
      },
      violations: violations.slice(0, 40),
    }
  } finally {
    await clear()
  }
}
