import pg from 'pg'
import { chain, startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { startBenchDatabase } from './database.ts'

// What must not grow: the cost of an execution with a long history and many waiting ones, the work of an idle system, the
// state of a map over many items.

const FINISHED = Number(process.env.FINISHED ?? 1_000_000)
const WAITING = Number(process.env.WAITING ?? 100_000)
const ITEMS = Number(process.env.ITEMS ?? 100_000)
const COUNT = Number(process.env.COUNT ?? 4000)
const IN_FLIGHT = 64
const IDLE_S = 10

const database = await startBenchDatabase(process.env.BENCH_MIGRATIONS)
const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
const bench = await startTestEngine(database.urls, { level: 'warn' })
const ref = bench.define(chain(5))

const executeAll = async (): Promise<number> => {
  let left = COUNT
  const before = process.cpuUsage()
  const begunAt = performance.now()
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) {
        const id = await bench.run(ref, { value: 7 })
        await bench.engine.waitFor(bench.workspaceId, id, 60_000)
      }
    }),
  )
  const used = process.cpuUsage(before)
  console.log(
    `  ${((performance.now() - begunAt) / COUNT).toFixed(3)} ms, program ${((used.user + used.system) / 1000 / COUNT).toFixed(3)} ms each`,
  )
  return performance.now() - begunAt
}

const transactions = async (): Promise<number> => {
  const read = async (): Promise<number> =>
    Number(
      (await observer.query(`select xact_commit + xact_rollback as n from pg_stat_database where datname = 'bench'`))
        .rows[0].n,
    )
  // Backends report what they did up to ten seconds later.
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  const before = await read()
  await new Promise((resolve) => setTimeout(resolve, IDLE_S * 1000))
  return ((await read()) - before) / IDLE_S
}

console.log('empty tables')
await executeAll()
await executeAll()
console.log(`  idle: ${(await transactions()).toFixed(1)} transactions/s`)

await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, created_at, finished_at, results)
   select uuidv7(interval '-1 hour'), w, w, 'adhoc:x', 'succeeded', 'user', now(), now(), '7'
   from generate_series(1, $1::integer) as n, lateral (select ('00000000-0000-7000-8000-' || lpad((n % 100)::text, 12, '0'))::uuid as w) as w`,
  [FINISHED],
)
await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, trigger_kind, waiting_for, due_at, snapshot, snapshot_seq)
   select uuidv7(), w, w, 'adhoc:x', 'waiting', 'user', '[{"kind": "approval"}]', case when n % 2 = 0 then now() + interval '1 day' end, '{}', 5
   from generate_series(1, $1::integer) as n, lateral (select ('00000000-0000-7000-8000-' || lpad((n % 100)::text, 12, '0'))::uuid as w) as w`,
  [WAITING],
)
console.log(`${FINISHED} ended, ${WAITING} waiting`)
await executeAll()
await executeAll()
const memory = process.memoryUsage().rss
console.log(`  idle: ${(await transactions()).toFixed(1)} transactions/s, memory ${Math.round(memory / 2 ** 20)} MB`)

const items = Array.from({ length: ITEMS }, (_, n) => n)
const definition = bench.define({
  nodes: [
    {
      id: 'm',
      type: 'map',
      args: {
        items: { $ref: 'input.items' },
        concurrency: 100,
        body: {
          nodes: [{ id: 'e', type: 'echo', args: { value: { $ref: 'item' } } }],
          edges: [],
          output: { $ref: 'nodes.e.output' },
        },
      },
    },
  ],
  edges: [],
})
const begunAt = performance.now()
const id = newId()
await bench.run(definition, { items }, { executionId: id })
const view = await bench.engine.waitFor(bench.workspaceId, id, 600_000)
const seconds = (performance.now() - begunAt) / 1000
console.log(
  `map over ${ITEMS} items: ${view?.status} in ${seconds.toFixed(1)} s (${Math.round(ITEMS / seconds)}/s), ${view?.seq} events, memory ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
)

await observer.end()
await bench.stop()
await database.stop()
