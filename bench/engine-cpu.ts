import { readdirSync, readFileSync } from 'node:fs'
import { chain, startTestEngine } from '#engine/testing'
import { startBenchDatabase } from './database.ts'
import { makePlain } from './plain.ts'

// Processor time per five-node execution, of this program and of PostgreSQL, for the engine and for the plain program.
// Unlike executions a second it says the same on a machine that others use too.

const COUNT = Number(process.env.COUNT ?? 4000)
const IN_FLIGHT = 64
const TICKS_PER_MS = 0.1 // 100 clock ticks a second

/** Every process below this one but itself: the database server and its children. */
const databaseMs = (): number => {
  const parents = new Map<number, { parent: number; ticks: number; name: string }>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const text = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
      parents.set(Number(entry), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), name })
    } catch {
      // It has ended meanwhile.
    }
  }
  let ticks = 0
  for (const [pid, about] of parents)
    if (about.name === 'postgres' && ours.has(about.parent || pid)) ticks += about.ticks
  return ticks / TICKS_PER_MS
}

const ours = new Set<number>()
const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
ours.add(database.postmasterPid)
const bench = await startTestEngine(database.urls, { level: 'warn' })
const plain = makePlain(database.urls.engine)
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
  const databaseBefore = databaseMs()
  await many(execute, COUNT)
  const used = process.cpuUsage(before)
  const program = (used.user + used.system) / 1000 / COUNT
  const server = (databaseMs() - databaseBefore) / COUNT
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
