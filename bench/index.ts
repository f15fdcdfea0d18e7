import { pino } from 'pino'
import { makeRunIndex } from '#areas/executions/indexing'
import type { FinishedRun } from '#engine/finished-run'
import { cpuMs } from './cpu.ts'
import { median, startBenchDatabase } from './database.ts'
import { FIVE, repeat, startBenchEngine } from './executions.ts'
import { makeBenchPerson } from './world.ts'

// Measures the cost of the word index for the engine: processor time of this program and of PostgreSQL for a five-node
// execution, with and without the index, alternately in one run. Everything that is indexed in a round is written and
// merged within the round.

const ROUNDS = Number(process.env.ROUNDS ?? 7)
const PER_ROUND = Number(process.env.PER_ROUND ?? 4000)
const IN_FLIGHT = 64

const database = await startBenchDatabase()
let note: ((run: FinishedRun) => void) | undefined
const bench = await startBenchEngine(database.urls, {
  ports: { finished: (run) => note?.(run) },
})
const { workspaceId } = await makeBenchPerson(database)
const index = makeRunIndex({ db: bench.db, log: pino({ level: 'warn' }) })
const ref = bench.define(FIVE)

let started = 0
async function once(): Promise<void> {
  started += 1
  const input = { value: 7, order: { id: started, customer: `customer ${started % 5000}` }, note: 'ordinary' }
  await bench.runToEnd(ref, input, { workspaceId })
}

async function round(isIndexed: boolean): Promise<number> {
  note = isIndexed ? index.note : undefined
  const before = process.cpuUsage()
  const databaseBefore = cpuMs(database.postmaster())
  await repeat(PER_ROUND, IN_FLIGHT, once)
  await index.flush()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) / 1000 + cpuMs(database.postmaster()) - databaseBefore) / PER_ROUND
}

await round(true)
await round(false)
const withIndex: number[] = []
const without: number[] = []
for (let at = 0; at < ROUNDS; at += 1) {
  const isFirst = at % 2 === 0
  const one = await round(isFirst)
  const other = await round(!isFirst)
  withIndex.push(isFirst ? one : other)
  without.push(isFirst ? other : one)
}
console.log(
  JSON.stringify(
    {
      without_us: Math.round(median(without) * 1000),
      with_us: Math.round(median(withIndex) * 1000),
      cpu_ratio: Number(median(without.map((ms, at) => ms / withIndex[at]!)).toFixed(3)),
    },
    null,
    2,
  ),
)
await index.stop()
await bench.stop()
await database.stop()
process.exit(0)
