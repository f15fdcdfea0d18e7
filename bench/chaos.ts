import { runCuts } from './chaos/cuts.ts'
import { runDatabases } from './chaos/databases.ts'
import { runPooler } from './chaos/pooler.ts'
import { runReleases } from './chaos/releases.ts'
import { runScenario } from './chaos/scenario.ts'
import { runStandby } from './chaos/standby.ts'
import { asTable, faults, runFaults } from './chaos/table.ts'

// `npm run chaos`: kills and stops workers, server and database under load; cuts sockets; kills the database alone
// repeatedly; replaces one release with another. Exits with 1 if a guarantee is violated. `SEED=n` repeats the choices
// of an earlier scenario; `-- load`, `-- cuts`, `-- databases` (`KILLS=12 MINUTES=2` is shorter), `-- releases` and `--
// faults` run one scenario. The last is a table of faults (`FAULT_S=10` each), which can also be run individually: `--
// worker-frozen`. `-- standby` kills a primary, promotes its standby (`SYNCHRONOUS=off` shows what is lost without
// synchronous replication), and restores a backup; `-- pooler` connects through PgBouncer, if it is installed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const say = (line: string): void => console.error(line)

const underLoad = () =>
  runScenario({
    seed,
    callers: 16,
    restMs: 0,
    leastAcknowledged: Number(process.env.EXECUTIONS ?? 3000),
    oneOfTwo: Number(process.env.ONE_OF_TWO ?? 12),
    theOnlyOne: Number(process.env.THE_ONLY_ONE ?? 6),
    servers: Number(process.env.SERVERS ?? 4),
    stops: Number(process.env.STOPS ?? 4),
    databases: Number(process.env.DATABASES ?? 8),
    takeoverMs: 5000,
    say,
  })

const cutSockets = () =>
  runCuts({
    seed,
    cuts: Number(process.env.CUTS ?? 1000),
    kills: Number(process.env.CUT_KILLS ?? 10),
    watchers: 6,
    say,
  })

const killDatabases = () =>
  runDatabases({
    seed,
    kills: Number(process.env.KILLS ?? 60),
    minutes: Number(process.env.MINUTES ?? 10),
    callers: 8,
    leastAcknowledged: Number(process.env.EXECUTIONS ?? 500),
    backMs: 3000,
    say,
  })

const replaceReleases = () => runReleases({ seed, callers: 4, perStep: Number(process.env.PER_STEP ?? 200), say })

const [only] = process.argv.slice(2)

const promoteStandby = () =>
  runStandby({
    seed,
    seconds: Number(process.env.FAULT_S ?? 10),
    synchronous: process.env.SYNCHRONOUS !== 'off',
    say,
  })

const throughPgBouncer = () => runPooler({ seed, seconds: Number(process.env.FAULT_S ?? 10), say })

const tableOfFaults = async () => {
  const { verdicts, violations } = await runFaults({
    seed,
    secondsEach: Number(process.env.FAULT_S ?? 10),
    say,
    ...(only !== undefined && Object.hasOwn(faults, only) && { only }),
  })
  say(asTable(verdicts))
  return { seed, verdicts, violations }
}

let violations = 0
for (const [name, scenario] of [
  ['load', underLoad],
  ['cuts', cutSockets],
  ['databases', killDatabases],
  ['releases', replaceReleases],
  ['faults', tableOfFaults],
  ['standby', promoteStandby],
  ['pooler', throughPgBouncer],
] as const) {
  const isOne = name === 'faults' && only !== undefined && Object.hasOwn(faults, only)
  if (only !== undefined && only !== name && !isOne) continue
  const outcome = await scenario()
  console.log(JSON.stringify(outcome, null, 2))
  violations += outcome.violations.length
}
process.exit(violations > 0 ? 1 : 0)
