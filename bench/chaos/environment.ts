import { startBenchDatabase } from '../database.ts'
import { startEffects } from './effects.ts'
import { makeFleet } from './fleet.ts'
import { makeLedger } from './ledger.ts'
import { randomFrom } from './random.ts'

/**
 * Creates the environment of a test scenario: a database, processes, a provider that counts effects, and a ledger to
 * compare with.
 */
export async function makeEnvironment(seed: number) {
  const random = randomFrom(seed)
  const effects = await startEffects(random)
  const database = await startBenchDatabase()
  const fleet = makeFleet({
    database,
    env: { HEDDLE_ALLOW_TARGETS: new URL(effects.base).host, HEDDLE_BENCH_EFFECTS: effects.base },
  })
  const ledger = makeLedger(Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href)
  const clear = async (): Promise<void> => {
    await fleet.stop()
    await ledger.stop()
    await effects.stop()
    await database.stop()
  }
  return { random, effects, database, fleet, ledger, clear }
}
