import { pino } from 'pino'
import { makeRunIndex } from '#areas/executions/indexing'
import type { FinishedRun } from '#engine/finished-run'
import { chain, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { cpuMs } from './cpu.ts'
import { median, startBenchDatabase } from './database.ts'
import { makeBenchPerson } from './world.ts'

// Measures the cost of the word index for the engine: processor time of this program and of PostgreSQL for a five-node
// execution, with and without the index, alternately in one run. Everything that is indexed in a round is written and
// merged within the round.

const ROUNDS = Number(process.env.ROUNDS ?? 7)
const PER_ROUND = Number(process.env.PER_ROUND ?? 4000)
const IN_FLIGHT = 64

const database = await startBenchDatabase()
let note: ((run: FinishedRun) => void) | undefined
const bench = await startTestEngine(database.urls, {
  level: 'warn',
  ports: { finished: (run) => note?.(run) },
})
const { workspaceId } = await makeBenchPerson(database)
const index = makeRunIndex({ db: bench.db, log: pino({ level: 'warn' }) })
const ref = bench.define(chain(5))

const ends = new Map<string, () => void>()
const appended = new Map<string, number>()
bench.engine.onAppended((ids) => {
  for (const id of ids) {
    const done = ends.get(id)
    if (!done) continue
    const count = (appended.get(id) ?? 0) + 1
    if (count < 6) appended.set(id, count)
    else {
      appended.delete(id)
      ends.delete(id)
      done()
    }
  }
})
let started = 0
async function once(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const executionId = newId()
  ends.set(executionId, resolve)
  started += 1
  const input = { value: 7, order: { id: started, customer: `customer ${started % 5000}` }, note: 'ordinary' }
  await bench.run(ref, input, { executionId, workspaceId })
  await promise
}

async function round(isIndexed: boolean): Promise<number> {
  note = isIndexed ? index.note : undefined
  const before = process.cpuUsage()
  const databaseBefore = cpuMs(database.postmaster())
  let left = PER_ROUND
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await once()
    }),
  )
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
