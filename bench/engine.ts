import pg from 'pg'
import { chain } from '#engine/testing'
import type { Definition } from '#model/definition'
import { median, percentile, startBenchDatabase } from './database.ts'
import { FIVE, repeat, startBenchEngine } from './executions.ts'
import { makeReferenceEngine } from './reference-engine.ts'

// Measures five-node executions per second through the engine, 64 at a time, as a ratio to the plain program in the same
// run; the bytes of one execution on disk and in the write-ahead log; and the time of a three-node execution on an idle
// system. The nodes have effects, so each is durable before the next one starts, as in the plain program. The figures
// under `pure` are those of nodes without effects, which do not wait for it.

const IN_FLIGHT = 64
const ROUNDS = 5
const PER_ROUND = Number(process.env.PER_ROUND ?? 4000)
const IDLE = 200
/** The number of executions between two runs of vacuum, and how many times. */
const WRITTEN = 4000
const PARTS = 5

const rateOf = async (execute: () => Promise<void>, count = PER_ROUND): Promise<number> => {
  const begunAt = performance.now()
  await repeat(count, IN_FLIGHT, execute)
  return (count / (performance.now() - begunAt)) * 1000
}

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
const bench = await startBenchEngine(database.urls)
const plain = makeReferenceEngine(database.urls.engine)
const executor = (definition: Definition) => {
  const ref = bench.define(definition)
  return () => bench.runToEnd(ref)
}
const graphs = { durable: executor(FIVE), pure: executor(chain(5)) }

const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
type Written = Record<'executions' | 'events' | 'wal', number>
/** Returns the size of all weekly partitions of both tables with their indexes, and the position of the log. */
const written = async (): Promise<Written> =>
  (
    await observer.query(`select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
       (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('executions')) as executions,
       (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('events')) as events`)
  ).rows[0]
/**
 * Returns the bytes of one execution on disk and in the log, while 64 are running. The end of an execution is a second
 * version of its row. `disk_bytes` is what the tables grow by while vacuum frees the first versions of earlier
 * executions, as autovacuum does, and `disk_bytes_unvacuumed` while it does not.
 */
async function bytesOf(execute: () => Promise<void>) {
  // The first change of a page after a checkpoint writes the whole page to the log.
  await observer.query('checkpoint')
  await repeat(1000, IN_FLIGHT, execute)
  const grown: Written[] = [await written()]
  for (let part = 0; part < PARTS; part += 1) {
    await repeat(WRITTEN, IN_FLIGHT, execute)
    grown.push(await written())
    await observer.query('vacuum executions, events')
  }
  const bytes = (from: number, to: number, ...what: (keyof Written)[]): number =>
    Math.round(what.reduce((sum, name) => sum + grown[to]![name] - grown[from]![name], 0) / (to - from) / WRITTEN)
  return {
    disk_bytes: bytes(2, PARTS, 'executions', 'events'),
    disk_bytes_of_events: bytes(2, PARTS, 'events'),
    disk_bytes_unvacuumed: bytes(0, 1, 'executions', 'events'),
    wal_bytes: bytes(0, 1, 'wal'),
  }
}

// Before the rates: their executions would leave space that is used again.
const bytes = { durable: await bytesOf(graphs.durable), pure: await bytesOf(graphs.pure) }

await rateOf(plain.execute, 500)
for (const execute of Object.values(graphs)) await rateOf(execute, 500)

const rates: Record<'plain' | keyof typeof graphs, number[]> = { plain: [], durable: [], pure: [] }
for (let round = 0; round < ROUNDS; round += 1) {
  rates.plain.push(await rateOf(plain.execute))
  rates.durable.push(await rateOf(graphs.durable))
  rates.pure.push(await rateOf(graphs.pure))
}
const ratioOf = (what: keyof typeof graphs): number =>
  Number(median(rates[what].map((rate, round) => rate / (rates.plain[round] ?? Number.NaN))).toFixed(2))

/** Returns the time of a three-node execution on an idle system. */
async function latencyOf(execute: () => Promise<void>) {
  const times: number[] = []
  for (let n = 0; n < IDLE; n += 1) {
    const begunAt = performance.now()
    await execute()
    times.push(performance.now() - begunAt)
  }
  return {
    idle_p50_ms: Number(percentile(times, 50).toFixed(2)),
    idle_p99_ms: Number(percentile(times, 99).toFixed(2)),
  }
}

const durable = { ...bytes.durable, ...(await latencyOf(executor(chain(3, 'call')))) }
const pure = { ...bytes.pure, ...(await latencyOf(executor(chain(3)))) }
await observer.end()

const { rss } = process.memoryUsage()
console.log(
  JSON.stringify(
    {
      plain_runs_s: Math.round(median(rates.plain)),
      engine_runs_s: Math.round(median(rates.durable)),
      ratio: ratioOf('durable'),
      ...durable,
      pure: { engine_runs_s: Math.round(median(rates.pure)), ratio: ratioOf('pure'), ...pure },
      rss_mb: Math.round(rss / 2 ** 20),
    },
    null,
    2,
  ),
)
await plain.stop()
await bench.stop()
await database.stop()
