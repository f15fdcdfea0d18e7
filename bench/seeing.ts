import pg from 'pg'
import { pino } from 'pino'
import { addBlocks } from '#areas/executions/block-store'
import { searchByContent } from '#areas/executions/content'
import { blocksOf } from '#areas/executions/indexing'
import { mergeSmallBlocks } from '#areas/executions/merging'
import { NOT_JOBS } from '#areas/executions/search'
import { makeRunFigures } from '#areas/insights/rollup'
import { getRunInsights, getStepInsights } from '#areas/insights/runs'
import { startTestEngine } from '#engine/testing'
import type { Context } from '#platform/http/context'
import { newId } from '#platform/ids'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson } from './world.ts'

// Measures the search among many ended executions of one workspace, with the time of each filter's statements, and the
// insights over the same number of executions. This program writes the index and the insights with the code of the
// service. `index.ts` measures the cost of the index for the engine.

const RUNS = Number(process.env.RUNS ?? 1_000_000)
const WRITTEN_AT_ONCE = 2_500
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
/**
 * In a function, because a million rows that remain in memory would make every garbage collection during the
 * measurement long.
 */
async function index(): Promise<void> {
  const rows = await observer.query<{ id: string; n: number }>(
    `select execution_id as id, (input #>> '{order,id}')::integer as n from executions where workspace_id = $1 order by execution_id`,
    [workspaceId],
  )
  await observer.query(`update run_index_state set covered_from = '00000000-0000-0000-0000-000000000000'`)
  for (let at = 0; at < rows.rows.length; at += WRITTEN_AT_ONCE) {
    const ended = rows.rows.slice(at, at + WRITTEN_AT_ONCE).map(({ id, n }) => ({
      workspaceId,
      executionId: id,
      workflowId,
      versionId: null,
      status: n % 100 === 0 ? 'failed' : 'succeeded',
      input: { order: { id: n, customer: `customer ${n % 5000}` }, note: 'ordinary' },
      results: { ok: true },
      error: n % 100 === 0 ? { code: 'http_status', message: 'it answered 500', node_id: 'ask' } : null,
    }))
    await addBlocks(bench.db, await blocksOf(ended))
    if (at % (WRITTEN_AT_ONCE * 6) === 0) await mergeSmallBlocks(bench.db, workspaceId)
  }
}
const indexedAt = performance.now()
await index()
const indexing = performance.now() - indexedAt
await observer.query('vacuum (analyze) executions, run_blocks, run_labels')
await observer.query('checkpoint')
const { rows: sizes } = await observer.query<{ bytes: string }>(`select pg_total_relation_size('run_blocks') as bytes`)
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

// Insights of the same number of executions over 35 days and 50 workflows, aggregated by the service's own code.
const insights = makeRunFigures({ db: bench.db, log: pino({ level: 'warn' }) })
const workflows = Array.from({ length: 50 }, newId)
const member = newId()
await observer.query(
  `insert into workflows (workspace_id, workflow_id, name, owner_id) select $1, id, 'Work', $3 from unnest($2::uuid[]) as id`,
  [workspaceId, workflows, userId],
)
await observer.query(
  `insert into users (user_id, org_id, email, name) select $1, org_id, 'member@example.com', 'Member' from orgs`,
  [member],
)
const DAY_MS = 24 * 3600 * 1000
for (let n = 0; n < RUNS; n += 1) {
  const finishedAt = Date.now() - (n / RUNS) * 35 * DAY_MS
  const failed = n % 20 === 0
  const steps = ['ask', 'check', 'send'].map((id) => ({
    id,
    type: 'http.request',
    status: 'succeeded' as const,
    attempt: 1,
    startedAt: finishedAt - 500,
    finishedAt: finishedAt - 100 + (n % 97),
    errorCode: null,
  }))
  insights.note({
    workspaceId,
    executionId: '',
    workflowId: workflows[n % 50]!,
    versionId: null,
    trigger: { kind: (['user', 'webhook', 'schedule'] as const)[n % 3]!, id: null },
    parentExecutionId: null,
    traceparent: null,
    input: null,
    results: null,
    status: failed ? 'failed' : 'succeeded',
    error: failed ? { code: `code_${n % 7}`, message: '' } : null,
    createdAt: finishedAt - 1000 - (n % 30_000),
    startedAt: finishedAt - 1000 - (n % 30_000),
    finishedAt,
    nodes: steps,
  })
  if (n % 20_000 === 19_999) await insights.flush()
}
await insights.stop()
await observer.query('vacuum (analyze) run_counts, run_times, step_days')
const since = new Date(Date.now() - 34 * DAY_MS)
const reports: Record<string, (ctx: Context) => Promise<unknown>> = {
  week_by_day: (ctx) => getRunInsights(ctx, {}),
  month_by_day: (ctx) => getRunInsights(ctx, { from: since, bucket: 'day' }),
  week_by_hour: (ctx) => getRunInsights(ctx, { bucket: 'hour' }),
  month_by_hour: (ctx) => getRunInsights(ctx, { from: since, bucket: 'hour' }),
  by_workflow: (ctx) => getRunInsights(ctx, { from: since, group_by: 'workflow' }),
  by_error: (ctx) => getRunInsights(ctx, { from: since, group_by: 'error' }),
  one_workflow: (ctx) => getRunInsights(ctx, { from: since, bucket: 'hour', workflow_id: workflows[3]! }),
  slowest_steps: (ctx) => getStepInsights(ctx, { from: since, sort: 'mean', limit: 20 }),
}
/** Owners see everything. Members see their own workflows, whose insights are aggregated on request. */
const lookers: Record<string, { role: 'owner' | 'member'; seen: number }> = {
  owner: { role: 'owner', seen: 50 },
  member_of_5: { role: 'member', seen: 5 },
  member_of_25: { role: 'member', seen: 25 },
  member_of_all: { role: 'member', seen: 50 },
}
const insightFigures: Record<string, { p50_ms: number; p95_ms: number }> = {}
for (const [looker, { role, seen }] of Object.entries(lookers)) {
  await observer.query('update workflows set owner_id = $2 where workflow_id = any($1)', [workflows, userId])
  const person = role === 'owner' ? userId : member
  await observer.query('update workflows set owner_id = $2 where workflow_id = any($1)', [
    workflows.slice(0, seen),
    person,
  ])
  for (const [name, report] of Object.entries(reports)) {
    if (role === 'member' && name === 'month_by_hour') continue
    const times: number[] = []
    for (let i = 0; i < ASKED; i += 1) {
      const begunAt = performance.now()
      await bench.db.tenant({ workspaceId, userId: person }, (tx) =>
        report({ tx, workspace: { workspace_id: workspaceId, role }, person: { user_id: person } } as Context),
      )
      times.push(performance.now() - begunAt)
    }
    insightFigures[`${looker} ${name}`] = { p50_ms: round(median(times)), p95_ms: round(percentile(times, 95)) }
    console.error(looker, name, insightFigures[`${looker} ${name}`])
  }
}

function round(ms: number): number {
  return Number(ms.toFixed(1))
}

console.log(
  JSON.stringify(
    {
      runs: RUNS,
      index: {
        bytes_a_run: Math.round(Number(sizes[0]!.bytes) / RUNS),
        us_a_run: round((indexing / RUNS) * 1000),
      },
      search: figures,
      search_p95_ms: Math.max(...Object.values(figures).map(({ p95_ms }) => p95_ms)),
      insights: insightFigures,
      insights_p95_ms: Math.max(...Object.values(insightFigures).map(({ p95_ms }) => p95_ms)),
    },
    null,
    2,
  ),
)
await bench.stop()
await observer.end()
await database.stop()
process.exit(0)
