import pg from 'pg'
import { chain, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeReferenceEngine } from './reference-engine.ts'

// Measures five-node executions per second through the engine, every node durable, 64 in flight, as a ratio to the
// plain program in the same run; the bytes of one execution on disk and in the write-ahead log; and the time of a
// three-node execution on an idle system.

const IN_FLIGHT = 64
const ROUNDS = 5
const PER_ROUND = Number(process.env.PER_ROUND ?? 4000)
const IDLE = 200
const WRITTEN = 8000

const measure = async (execute: () => Promise<void>, count = PER_ROUND): Promise<number> => {
  let left = count
  const begunAt = performance.now()
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await execute()
    }),
  )
  return (count / (performance.now() - begunAt)) * 1000
}

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
const bench = await startTestEngine(database.urls, { level: 'warn' })
const plain = makeReferenceEngine(database.urls.engine)

/** The end of an execution is detected by the notification after the commit, not by reading the database. */
const ends = new Map<string, () => void>()
const executor = (ref: string, nodes: number) => {
  const appended = new Map<string, number>()
  bench.engine.onAppended((ids) => {
    for (const id of ids) {
      const done = ends.get(id)
      if (!done) continue
      // There is one append for the start and one for each node.
      const count = (appended.get(id) ?? 0) + 1
      if (count < nodes + 1) appended.set(id, count)
      else {
        appended.delete(id)
        ends.delete(id)
        done()
      }
    }
  })
  return async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const id = newId()
    ends.set(id, resolve)
    await bench.run(ref, { value: 7 }, { executionId: id })
    await promise
  }
}

const five = executor(bench.define(chain(5)), 5)
await measure(five, 500)
await measure(plain.execute, 500)

const engineRates: number[] = []
const plainRates: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  plainRates.push(await measure(plain.execute))
  engineRates.push(await measure(five))
}
const ratios = engineRates.map((rate, round) => rate / (plainRates[round] ?? Number.NaN))

const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
/** Returns the size of all weekly partitions of both tables with their indexes, and the position of the log. */
const written = async (): Promise<Record<'executions' | 'events' | 'wal', number>> =>
  (
    await observer.query(`select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
       (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('executions')) as executions,
       (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('events')) as events`)
  ).rows[0]
// The first change of a page after a checkpoint writes the whole page to the log.
await observer.query('checkpoint')
await measure(five, 1000)
const before = await written()
await measure(five, WRITTEN)
const after = await written()
await observer.end()
const bytesOf = (what: keyof typeof before): number => Math.round((after[what] - before[what]) / WRITTEN)

const three = executor(bench.define(chain(3)), 3)
const idle: number[] = []
for (let i = 0; i < IDLE; i += 1) {
  const begunAt = performance.now()
  await three()
  idle.push(performance.now() - begunAt)
}

const { rss } = process.memoryUsage()
console.log(
  JSON.stringify(
    {
      plain_runs_s: Math.round(median(plainRates)),
      engine_runs_s: Math.round(median(engineRates)),
      ratio: Number(median(ratios).toFixed(2)),
      idle_p50_ms: Number(percentile(idle, 50).toFixed(2)),
      idle_p99_ms: Number(percentile(idle, 99).toFixed(2)),
      disk_bytes: bytesOf('executions') + bytesOf('events'),
      disk_bytes_of_events: bytesOf('events'),
      wal_bytes: bytesOf('wal'),
      rss_mb: Math.round(rss / 2 ** 20),
    },
    null,
    2,
  ),
)
await plain.stop()
await bench.stop()
await database.stop()
