import { chain, startTestEngine } from '#engine/testing'
import { cpuMs } from './cpu.ts'
import { startBenchDatabase } from './database.ts'
import { makeReferenceEngine } from './reference-engine.ts'

// Measures the processor time per five-node execution, of this program and of PostgreSQL, for the engine and for the
// plain program. Unlike executions per second, it is the same on a machine with other load.

const COUNT = Number(process.env.COUNT ?? 4000)
const IN_FLIGHT = 64

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
const bench = await startTestEngine(database.urls, { level: 'warn' })
const plain = makeReferenceEngine(database.urls.engine)
const ref = bench.define(chain(5))

const many = async (execute: () => Promise<unknown>, count: number): Promise<void> => {
  let left = count
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await execute()
    }),
  )
}

const engineOnce = async (): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let id = ''
  let appends = 0
  const off = bench.engine.onAppended((ids) => {
    for (const seen of ids) if (seen === id && ++appends >= 5) resolve()
  })
  id = await bench.run(ref, { value: 7 })
  await promise
  off()
}

const cost = async (name: string, execute: () => Promise<unknown>): Promise<void> => {
  await many(execute, 500)
  const before = process.cpuUsage()
  const databaseBefore = cpuMs(database.postmaster())
  await many(execute, COUNT)
  const used = process.cpuUsage(before)
  const program = (used.user + used.system) / 1000 / COUNT
  const server = (cpuMs(database.postmaster()) - databaseBefore) / COUNT
  console.log(
    `${name}: program ${program.toFixed(3)} ms, database ${server.toFixed(3)} ms, together ${(program + server).toFixed(3)} ms per execution`,
  )
}

await cost('plain ', plain.execute)
await cost('engine', engineOnce)
await cost('plain ', plain.execute)
await cost('engine', engineOnce)
await plain.stop()
await bench.stop()
await database.stop()
