import pg from 'pg'
import { searchByContent } from '#areas/executions/content'
import { NOT_JOBS } from '#areas/executions/search'
import { addTerms } from '#areas/executions/terms'
import { startTestEngine } from '#engine/testing'
import { newId } from '#platform/ids'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson } from './world.ts'

// Search among many ended runs of one workspace: each filter, as its statements take, and what the index of words costs a run. The index is
// written from here by the same code and in the same chunks as the service writes it.

const RUNS = Number(process.env.RUNS ?? 1_000_000)
const CHUNK = 256
const WRITTEN_AT_ONCE = 20
const ASKED = 60

const database = await startBenchDatabase()
const observer = new pg.Client({
  connectionString: Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href,
})
await observer.connect()
const bench = await startTestEngine(database.urls, { level: 'warn' })
const person = await makeBenchPerson(database)
const { workspaceId, userId } = person
const workflowId = newId()
await observer.query(
  `insert into workflows (workspace_id, workflow_id, name, owner_id) values ($1, $2, 'Orders', $3)`,
  [workspaceId, workflowId, userId],
)
await observer.query(
  `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, input, results, error, tags, trigger_kind, created_at, finished_at)
   select uuidv7(interval '-1 hour'), $2, $3, 'adhoc:x', case when n % 100 = 0 then 'failed' else 'succeeded' end,
     json_build_object('order', json_build_object('id', n, 'customer', 'customer ' || n % 5000), 'note', 'ordinary'), '{"ok":true}',
     case when n % 100 = 0 then '{"code":"http_status","message":"it answered 500","node_id":"ask"}'::json end,
     case when n % 1000 = 0 then array['urgent'] end, 'user', now(), now()
   from generate_series(1, $1::integer) as n`,
  [RUNS, workspaceId, workflowId],
)
const indexedAt = performance.now()
let hashing = 0
const rows = await observer.query<{ id: string; n: number }>(
  `select execution_id as id, (input #>> '{order,id}')::integer as n from executions where workspace_id = $1 order by execution_id`,
  [workspaceId],
)
type Chunk = { workspace_id: string; first_id: string; last_id: string; ids: string[]; terms: number[] }
let chunks: Chunk[] = []
for (let at = 0; at < rows.rows.length; at += CHUNK) {
  const some = rows.rows.slice(at, at + CHUNK)
  const terms = new Set<number>()
  const begunAt = performance.now()
  for (const { n } of some) {
    const input = { order: { id: n, customer: `customer ${n % 5000}` }, note: 'ordinary' }
    const error = n % 100 === 0 ? { code: 'http_status', message: 'it answered 500', node_id: 'ask' } : null
    addTerms(terms, { workspaceId, versionId: null, input, results: { ok: true }, error })
  }
  hashing += performance.now() - begunAt
  const ids = some.map(({ id }) => id)
  chunks.push({ workspace_id: workspaceId, first_id: ids[0]!, last_id: ids.at(-1)!, ids, terms: [...terms] })
  if (chunks.length === WRITTEN_AT_ONCE || at + CHUNK >= rows.rows.length) {
    await observer.query('select add_run_terms($1)', [JSON.stringify(chunks)])
    chunks = []
  }
}
const indexing = performance.now() - indexedAt
await observer.query('vacuum (analyze) executions, run_terms, run_labels')
const { rows: sizes } = await observer.query<{ bytes: string }>(`select pg_total_relation_size('run_terms') as bytes`)
console.error(`${RUNS} runs are there`)

type Content = Parameters<typeof searchByContent>[2]['content']
const nothing: Content = { labels: [], versionId: null, q: null, input: [] }
const anyOrder = (): number => 1 + Math.floor(Math.random() * RUNS)
const filters: Record<string, () => Content> = {
  q_rare: () => ({ ...nothing, q: `${anyOrder()}` }),
  q_in_some: () => ({ ...nothing, q: `customer ${anyOrder() % 5000}` }),
  q_in_all: () => ({ ...nothing, q: 'ordinary' }),
  q_in_none: () => ({ ...nothing, q: 'elsewhere' }),
  input_rare: () => ({ ...nothing, input: [{ path: ['order', 'id'], value: String(anyOrder()) }] }),
  input_in_all: () => ({ ...nothing, input: [{ path: ['note'], value: 'ordinary' }] }),
  tag: () => ({ ...nothing, labels: ['tag:urgent'] }),
  error_code: () => ({ ...nothing, labels: ['error:http_status'] }),
  node_id: () => ({ ...nothing, labels: ['node:ask'] }),
}
const listing = { oldestFirst: false, after: null, from: null, to: null, limit: 50 }
const filter = { workflowId: null, systemSlug: null, status: null, trigger: NOT_JOBS }
const figures: Record<string, { p50_ms: number; p95_ms: number; found: number }> = {}
for (const [name, make] of Object.entries(filters)) {
  const times: number[] = []
  let found = 0
  for (let i = 0; i < ASKED; i += 1) {
    const content = make()
    const begunAt = performance.now()
    const page = await bench.db.tenant({ workspaceId, userId }, (tx) =>
      searchByContent(tx, { workspaceId, userId }, { ...filter, content }, listing),
    )
    times.push(performance.now() - begunAt)
    found = Math.max(found, page.rows.length)
  }
  figures[name] = { p50_ms: round(median(times)), p95_ms: round(percentile(times, 95)), found }
  console.error(name, figures[name])
}

function round(ms: number): number {
  return Number(ms.toFixed(1))
}

console.log(
  JSON.stringify({
    runs: RUNS,
    index: {
      bytes_a_run: Math.round(Number(sizes[0]!.bytes) / RUNS),
      hashing_us_a_run: round((hashing / RUNS) * 1000),
      writing_us_a_run: round(((indexing - hashing) / RUNS) * 1000),
    },
    ...figures,
  }),
)
await bench.stop()
await observer.end()
await database.stop()
process.exit(0)
