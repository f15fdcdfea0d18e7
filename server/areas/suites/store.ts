import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { pageRows } from '#platform/http/page'
import {
  allSuiteList,
  type ListedSuite,
  type Suite,
  type SuiteItem,
  type SuiteReport,
  type SuiteRun,
  suiteList,
  suiteRunList,
} from './schema.ts'

const columns =
  'suite_id, workflow_id, name, dataset_id, mapping, checks, created_by, last_run_id, created_at, updated_at'

export const findSuite = (tx: Tx, workspaceId: string, suiteId: string): Promise<Suite | undefined> =>
  tx.maybe<Suite>(`select ${columns} from suites where workspace_id = $1 and suite_id = $2`, [workspaceId, suiteId])

export const listSuites = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<Suite>(tx, suiteList, asked, {
    sql: `select ${columns} from suites where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
  })

export type FoundSuite = Omit<ListedSuite, 'last_run'>

/** The role is that of the workflow. A person without one is not told about its suites. */
export const searchSuites = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<FoundSuite>(tx, allSuiteList, asked, {
    sql: `select s.suite_id, s.workflow_id, s.name, s.dataset_id, s.mapping, s.checks, s.created_by, s.last_run_id, s.created_at, s.updated_at,
        w.name as workflow_name, r.role
      from suites s join workflows w on w.workspace_id = s.workspace_id and w.workflow_id = s.workflow_id and w.deleted_at is null,
      lateral (select case when w.owner_id = $2 then 'owner' else (select min(p.role) from workflow_people p
        where p.workspace_id = w.workspace_id and p.workflow_id = w.workflow_id and p.user_id = $2) end as role) r
      where s.workspace_id = $1 and r.role is not null`,
    values: [workspaceId, userId],
  })

type RunSummary = NonNullable<ListedSuite['last_run']>

export const summarizeRuns = (tx: Tx, workspaceId: string, runIds: string[]): Promise<RunSummary[]> =>
  tx.rows<RunSummary>(
    `select r.run_id, case when r.finished_at is null then 'running' else r.status end as status, r.total, c.passed,
       case when r.status = 'succeeded' and r.total > 0 then c.passed::float8 / r.total end as pass_rate
     from ledger_runs r, lateral (select count(*) as passed from suite_outcomes o
       where o.workspace_id = r.workspace_id and o.run_id = r.run_id and o.outcome = 'passed') c
     where r.workspace_id = $1 and r.run_id = any ($2)`,
    [workspaceId, runIds],
  )

export type SuiteFields = { name: string; dataset_id: string | null; mapping: Json; checks: Json }

const valuesOf = ({ name, dataset_id, mapping, checks }: SuiteFields): unknown[] => [
  name,
  dataset_id,
  mapping === null ? null : JSON.stringify(mapping),
  JSON.stringify(checks),
]

export const insertSuite = (
  tx: Tx,
  workspaceId: string,
  suite: { suite_id: string; workflow_id: string; created_by: string } & SuiteFields,
): Promise<Suite> =>
  tx.row<Suite>(
    `insert into suites (workspace_id, suite_id, workflow_id, created_by, name, dataset_id, mapping, checks)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [workspaceId, suite.suite_id, suite.workflow_id, suite.created_by, ...valuesOf(suite)],
  )

export const updateSuite = (tx: Tx, workspaceId: string, suiteId: string, fields: SuiteFields): Promise<Suite> =>
  tx.row<Suite>(
    `update suites set name = $3, dataset_id = $4, mapping = $5, checks = $6, updated_at = now()
     where workspace_id = $1 and suite_id = $2 returning ${columns}`,
    [workspaceId, suiteId, ...valuesOf(fields)],
  )

export const deleteSuite = (tx: Tx, workspaceId: string, suiteId: string): Promise<number> =>
  tx.count('delete from suites where workspace_id = $1 and suite_id = $2', [workspaceId, suiteId])

/** Cancels the runs of a workflow's suites when the workflow is deleted. */
export const cancelRunsOfWorkflow = (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  tx.count(
    `update ledger_runs set cancelling = true where workspace_id = $1 and workflow_id = $2 and suite_id is not null and finished_at is null`,
    [workspaceId, workflowId],
  )

export const noteRun = async (
  tx: Tx,
  workspaceId: string,
  suiteId: string,
  { run_id, effects, models }: { run_id: string; effects: string; models: string },
): Promise<void> => {
  await tx.count('update suites set last_run_id = $3 where workspace_id = $1 and suite_id = $2', [
    workspaceId,
    suiteId,
    run_id,
  ])
  await tx.count('update ledger_runs set effects = $3, models = $4 where workspace_id = $1 and run_id = $2', [
    workspaceId,
    run_id,
    effects,
    models,
  ])
}

/** Returns the effects of a run. Runs of releases before this setting were live. */
export const findEffects = async (tx: Tx, workspaceId: string, runId: string): Promise<string> =>
  (
    await tx.row<{ effects: string }>(
      `select coalesce(effects, 'live') as effects from ledger_runs where workspace_id = $1 and run_id = $2`,
      [workspaceId, runId],
    )
  ).effects

const runColumns = `r.run_id, r.suite_id, r.version_id, case when r.finished_at is null then 'running' else r.status end as status, r.total,
  c.passed, c.failed, c.errors, c.unjudged,
  case when r.status = 'succeeded' and r.total > 0 then c.passed::float8 / r.total end as pass_rate,
  coalesce(r.effects, 'live') as effects, coalesce(r.models, 'live') as models, case when r.finished_at is not null then c.score end as score,
  coalesce(r.usage, '{}') as usage, coalesce(c.recorded_usage, '{}') as recorded_usage,
  json_build_object('p50', t.p50, 'p95', t.p95) as duration_ms,
  r.dataset_sha256, r.error, r.started_at, r.finished_at`

const runTables = `ledger_runs r, lateral (select count(*) filter (where outcome = 'passed') as passed,
    count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome = 'error') as errors,
    count(*) filter (where outcome = 'unjudged') as unjudged, avg(o.score) as score,
    (select json_object_agg(u.key, u.total) from (select x.key, sum(x.value::numeric) as total from suite_outcomes p,
       lateral json_each_text(coalesce(p.recorded -> 'usage', '{}')) x where p.workspace_id = r.workspace_id and p.run_id = r.run_id
       group by x.key) u) as recorded_usage
  from suite_outcomes o where o.workspace_id = r.workspace_id and o.run_id = r.run_id) c,
  lateral (select percentile_cont(0.5) within group (order by l.duration_ms) as p50, percentile_cont(0.95) within group (order by l.duration_ms) as p95
  from ledger_records l where l.workspace_id = r.workspace_id and l.run_id = r.run_id) t`

const outcomeColumns = `o.position, o.outcome, o.score, l.execution_id, o.actual, o.checks, l.duration_ms, coalesce(l.usage, '{}') as usage, o.recorded,
  coalesce(o.mocked, '[]') as mocked`
const outcomeTables = `suite_outcomes o left join ledger_records l on l.workspace_id = o.workspace_id and l.run_id = o.run_id
  and l.position = o.position`

export const findRun = async (
  tx: Tx,
  workspaceId: string,
  suiteId: string,
  runId: string,
): Promise<SuiteRun | undefined> =>
  tx.maybe<SuiteRun>(
    `select ${runColumns} from ${runTables} where r.workspace_id = $1 and r.suite_id = $2 and r.run_id = $3`,
    [workspaceId, suiteId, runId],
  )

export const findProof = (
  tx: Tx,
  { workspaceId, versionId, suiteId }: { workspaceId: string; versionId: string; suiteId: string },
): Promise<{ run_id: string; score: number | null } | undefined> =>
  tx.maybe(
    `select r.run_id, case when r.status = 'succeeded' and r.total > 0 then c.passed::float8 / r.total end as score
     from ${runTables} where r.workspace_id = $1 and r.suite_id = $2 and r.version_id = $3 and r.finished_at is not null
     order by r.run_id desc limit 1`,
    [workspaceId, suiteId, versionId],
  )

export const listRuns = (tx: Tx, workspaceId: string, suiteId: string, asked: ListInput) =>
  readList<SuiteRun>(tx, suiteRunList, asked, {
    sql: `select ${runColumns} from ${runTables} where r.workspace_id = $1 and r.suite_id = $2`,
    values: [workspaceId, suiteId],
  })

export const listOutcomes = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  outcome: string | null,
  after: number,
  limit: number,
): Promise<SuiteItem[]> =>
  pageRows<SuiteItem>(
    tx,
    `select ${outcomeColumns} from ${outcomeTables}
     where o.workspace_id = $1 and o.run_id = $2 and o.position > $4 and ($3::text is null or o.outcome = $3)
     order by o.position limit $5`,
    [workspaceId, runId, outcome, after, limit + 1],
  )

export const findOutcome = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  position: number,
): Promise<SuiteItem | undefined> =>
  tx.maybe<SuiteItem>(
    `select ${outcomeColumns} from ${outcomeTables} where o.workspace_id = $1 and o.run_id = $2 and o.position = $3`,
    [workspaceId, runId, position],
  )

type Change = Omit<NonNullable<SuiteReport['comparison']>['changes'][number], 'case_url'>

export const compareRuns = async (
  tx: Tx,
  workspaceId: string,
  before: string,
  after: string,
): Promise<{ improved: number; regressed: number; changes: Change[] }> => {
  const join = `from suite_outcomes b join suite_outcomes a on a.workspace_id = b.workspace_id and a.position = b.position
     and a.run_id = $3 where b.workspace_id = $1 and b.run_id = $2 and a.outcome <> b.outcome`
  const counts = await tx.row<{ improved: number; regressed: number }>(
    `select count(*) filter (where a.outcome = 'passed') as improved, count(*) filter (where b.outcome = 'passed') as regressed ${join}`,
    [workspaceId, before, after],
  )
  const changes = await tx.rows<Change>(
    `select b.position, b.outcome as before, a.outcome as after, b.outcome = 'passed' as regressed, b.score as score_before, a.score as score_after
     ${join} order by b.outcome = 'passed' desc, b.position limit 200`,
    [workspaceId, before, after],
  )
  return { ...counts, changes }
}

export type Judged = {
  position: number
  outcome: string
  score: number | null
  actual: Json
  checks: Json
  recorded: Json
  mocked: Json
}

/** A process that takes over the run writes the same rows again, which has no effect. */
export const putOutcomes = (tx: Tx, workspaceId: string, runId: string, judged: Judged[]): Promise<number> =>
  tx.count(
    `insert into suite_outcomes (workspace_id, run_id, position, outcome, actual, checks, score, recorded, mocked)
     select $1, $2, p.* from unnest($3::integer[], $4::text[], $5::json[], $6::json[], $7::double precision[], $8::json[], $9::json[]) as p
     on conflict (workspace_id, run_id, position) do nothing`,
    [
      workspaceId,
      runId,
      judged.map(({ position }) => position),
      judged.map(({ outcome }) => outcome),
      judged.map(({ actual }) => JSON.stringify(actual)),
      judged.map(({ checks }) => JSON.stringify(checks)),
      judged.map(({ score }) => score),
      judged.map(({ recorded }) => (recorded === null ? null : JSON.stringify(recorded))),
      judged.map(({ mocked }) => JSON.stringify(mocked)),
    ],
  )

/** Returns the position at which the report of an interrupted run continues. */
export const countOutcomes = async (tx: Tx, workspaceId: string, runId: string): Promise<number> =>
  (
    await tx.row<{ written: number }>(
      'select coalesce(max(position) + 1, 0) as written from suite_outcomes where workspace_id = $1 and run_id = $2',
      [workspaceId, runId],
    )
  ).written
