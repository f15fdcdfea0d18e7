import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Many executions wait for the same instant. Measures how late each continues: `COUNT=8000 node bench/herd.ts`.

const COUNT = Number(process.env.COUNT ?? 8_000)
const AT_ONCE = 32

const database = await startBenchDatabase()
const { key } = await makeBenchPerson(database)
const service = await startBenchService(database)

async function startAll(until: string): Promise<void> {
  const { workflow_id } = await post(service.base, '/api/workflows', key, {
    name: 'Waits',
    definition: { nodes: [{ id: 'wait', type: 'wait', args: { until } }], edges: [] },
  })
  let left = COUNT
  const start = async () => {
    while (left-- > 0) await post(service.base, `/api/workflows/${workflow_id}/run`, key, {})
  }
  await Promise.all(Array.from({ length: AT_ONCE }, start))
}

const client = new pg.Client({ connectionString: database.urls.owner })
await client.connect()
const countOf = async (status: string): Promise<number> =>
  (await client.query('select count(*)::integer as n from executions where status = $1', [status])).rows[0].n

const due = Date.now() + Math.max(15_000, COUNT * 3)
await startAll(new Date(due).toISOString())
while ((await countOf('waiting')) < COUNT) {
  if (Date.now() > due) throw new Error('the executions were not all waiting when their time came')
  await sleep(200)
}
await sleep(due - Date.now())
while ((await countOf('succeeded')) < COUNT) await sleep(500)
const { rows } = await client.query<{ late: number }>(
  'select extract(epoch from finished_at) * 1000 - $1 as late from executions',
  [due],
)
const late = rows.map((row) => Number(row.late))
console.log(
  JSON.stringify(
    {
      timers: COUNT,
      p50_ms: Math.round(percentile(late, 50)),
      p99_ms: Math.round(percentile(late, 99)),
      max_ms: Math.round(Math.max(...late)),
    },
    null,
    2,
  ),
)
await client.end()
service.stop()
await database.stop()
process.exit(0)
