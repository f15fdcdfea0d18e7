import { chain } from '#engine/testing'
import { cpuMs } from './cpu.ts'
import { startBenchDatabase } from './database.ts'
import { FIVE, repeat, startBenchEngine } from './executions.ts'
import { makeReferenceEngine } from './reference-engine.ts'

// Measures the processor time per five-node execution, of this program and of PostgreSQL, for the engine and for the
// plain program. Unlike executions per second, it is the same on a machine with other load.

const COUNT = Number(process.env.COUNT ?? 4000)
const IN_FLIGHT = 64

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
const bench = await startBenchEngine(database.urls)
const plain = makeReferenceEngine(database.urls.engine)
const [five, fivePure] = [bench.define(FIVE), bench.define(chain(5))]

const cost = async (name: string, execute: () => Promise<void>): Promise<void> => {
  await repeat(500, IN_FLIGHT, execute)
  const before = process.cpuUsage()
  const databaseBefore = cpuMs(database.postmaster())
  await repeat(COUNT, IN_FLIGHT, execute)
  const used = process.cpuUsage(before)
  const program = (used.user + used.system) / 1000 / COUNT
  const server = (cpuMs(database.postmaster()) - databaseBefore) / COUNT
  console.log(
    `${name}: program ${program.toFixed(3)} ms, database ${server.toFixed(3)} ms, together ${(program + server).toFixed(3)} ms per execution`,
  )
}

for (let round = 0; round < 2; round += 1) {
  await cost('plain                ', plain.execute)
  await cost('engine               ', () => bench.runToEnd(five))
  await cost('engine, no effects   ', () => bench.runToEnd(fivePure))
}
await plain.stop()
await bench.stop()
await database.stop()
