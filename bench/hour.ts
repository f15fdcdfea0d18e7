import pg from 'pg'
import { startBenchDatabase } from './database.ts'
import { FIVE, startBenchEngine } from './executions.ts'

// Checks whether autovacuum keeps up: five-node executions at full load for MINUTES (60), 64 in flight. The sizes of
// the tables are measured after a tenth of the time and at the end. Bytes per execution, and dead rows, should be the
// same. Not part of `npm run bench`.

const MINUTES = Number(process.env.MINUTES ?? 60)
const IN_FLIGHT = 64
const MB = 2 ** 20

const database = await startBenchDatabase()
const bench = await startBenchEngine(database.urls)
const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()

const five = bench.define(FIVE)
let done = 0
let refused = 0
/** A start that the database does not answer in time is refused, as for any caller, and counted. */
const execute = async (): Promise<void> => {
  try {
    await bench.runToEnd(five)
    done += 1
  } catch (error) {
    if ((error as { code?: string }).code !== 'unavailable') throw error
    refused += 1
  }
}

type Table = { table_mb: number; indexes_mb: number; live: number; dead: number; vacuums: number }
const NAMES = ['executions', 'events', 'workers', 'heartbeats', 'inbox', 'start_keys']

/** Returns the figures of each table, with all weekly partitions together. Empty tables are left out. */
const readTables = async (): Promise<{ executions: number; tables: Record<string, Table> }> => {
  const tables: Record<string, Table> = {}
  for (const name of NAMES) {
    const { rows } = await observer.query<Table>(
      `select round(sum(pg_relation_size(relid)) / ${MB}, 1)::float8 as table_mb, round(sum(pg_indexes_size(relid)) / ${MB}, 1)::float8 as indexes_mb,
         sum(n_live_tup)::float8 as live, sum(n_dead_tup)::float8 as dead, sum(autovacuum_count)::float8 as vacuums
       from pg_stat_user_tables where relname = $1 or relname like $1 || '\\_%'`,
      [name],
    )
    if (rows[0] && rows[0].live + rows[0].dead > 0) tables[name] = rows[0]
  }
  return { executions: done, tables }
}

const until = async (ms: number): Promise<number> => {
  const begunAt = performance.now()
  const before = done
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (performance.now() - begunAt < ms) await execute()
    }),
  )
  return Math.round(((done - before) / (performance.now() - begunAt)) * 1000)
}

const rates: number[] = [await until(MINUTES * 6_000)]
const early = await readTables()
console.error('early', JSON.stringify(early))
for (let part = 1; part < 10; part += 1) {
  rates.push(await until(MINUTES * 6_000))
  console.error(`${part + 1} of 10`, rates.at(-1), JSON.stringify((await readTables()).tables))
}
const late = await readTables()
const bytesOf = ({ executions, tables }: typeof early): number =>
  Math.round((Object.values(tables).reduce((sum, one) => sum + one.table_mb + one.indexes_mb, 0) * MB) / executions)
console.log(
  JSON.stringify(
    {
      minutes: MINUTES,
      runs_s: rates,
      refused,
      early,
      late,
      bytes_of_an_execution: { early: bytesOf(early), late: bytesOf(late) },
      rate_ratio: Number(((rates.at(-1) as number) / (rates[0] as number)).toFixed(2)),
    },
    null,
    2,
  ),
)
await observer.end()
await bench.stop()
await database.stop()
process.exit(0)
