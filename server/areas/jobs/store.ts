import { sharesColumn } from '#areas/teams/shares'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { Retry } from './ledger/verdict.ts'
import { type Job, type JobRun, jobList, type Role } from './schema.ts'
import type { SourceCursor } from './source.ts'

/** The counts of a run. Records without a row are pending too. */
export const countsOf = (of: string): string =>
  `json_build_object('pending', ${of}.total - ${of}.running - ${of}.succeeded - ${of}.failed - ${of}.skipped - ${of}.filtered,
    'running', ${of}.running, 'succeeded', ${of}.succeeded, 'failed', ${of}.failed, 'skipped', ${of}.skipped, 'filtered', ${of}.filtered)`

/** The columns of a `JobRun`. */
export const runColumns = (
  of: string,
): string => `'run_id', ${of}.run_id, 'status', ${of}.status, 'full', ${of}.is_full,
    'retry_failed', ${of}.retry_failed, 'sample', ${of}.sample, 'total', ${of}.total, 'counts', ${countsOf(of)},
    'failed_before', ${of}.failed_before, 'usage', ${of}.usage, 'dataset_sha256', ${of}.dataset_sha256, 'version_id', ${of}.version_id,
    'error', case when ${of}.finished_at is not null then ${of}.error end, 'started_at', ${of}.started_at, 'finished_at', ${of}.finished_at`

const columns = `j.job_id, j.name, j.owner_id, j.workflow_id, d.definition, j.dataset_id, j.source_id, j.mapping, j.only_if,
  case when j.output_name is not null then json_build_object('new', j.output_name, 'dataset_id', j.output_dataset_id, 'mode', j.output_mode)
    when j.output_bound then json_build_object('dataset_id', j.output_dataset_id, 'mode', j.output_mode) end as output,
  case when j.cron is not null then json_build_object('cron', j.cron, 'timezone', j.timezone) end as schedule,
  j.concurrency, j.stop_on_error_rate, j.key_column as key, j.retry, j.max_cost, j.max_tokens::float8 as max_tokens,
  coalesce((select json_agg(json_build_object('user_id', m.user_id, 'role', m.role) order by m.user_id) from job_members m
    where m.workspace_id = j.workspace_id and m.job_id = j.job_id), '[]') as members,
  ${sharesColumn('j', 'job_id')},
  (select nullif(q.role, '') from roles_in_jobs(array[app_user()], array[j.workspace_id], array[j.job_id]) q) as role,
  case when j.status in ('idle', 'failed') and j.due_at <= now() then 'due' else j.status end as status,
  j.paused_reason, j.due_at,
  case when r.run_id is not null then json_build_object(${runColumns('r')}) end as last_run,
  j.created_at, j.updated_at`

const tables = `enrichment_jobs j
  left join job_definitions d on d.workspace_id = j.workspace_id and d.definition_id = j.definition_id
  left join ledger_runs r on r.workspace_id = j.workspace_id and r.run_id = j.last_run_id`

/** PostgreSQL's JSON has its own notation of times. */
export const runWithDates = (run: JobRun): JobRun => ({
  ...run,
  started_at: new Date(run.started_at),
  finished_at: run.finished_at === null ? null : new Date(run.finished_at),
})

const withDates = (job: Job): Job => (job.last_run === null ? job : { ...job, last_run: runWithDates(job.last_run) })

export const findJob = async (tx: Tx, workspaceId: string, jobId: string): Promise<Job | undefined> => {
  const job = await tx.maybe<Job>(`select ${columns} from ${tables} where j.workspace_id = $1 and j.job_id = $2`, [
    workspaceId,
    jobId,
  ])
  return job && withDates(job)
}

/** Lists the jobs that the person may see. */
export const listJobs = async (tx: Tx, workspaceId: string, userId: string, asked: ListInput) => {
  const page = await readList<Job>(tx, jobList, asked, {
    sql: `select ${columns} from ${tables}
      left join workflows f on f.workspace_id = j.workspace_id and f.workflow_id = j.workflow_id and f.deleted_at is null
      where j.workspace_id = $1
        and case when f.workflow_id is not null then f.owner_id = $2 or exists (select from workflow_people m
            where m.workspace_id = j.workspace_id and m.workflow_id = j.workflow_id and m.user_id = $2)
          else exists (select from job_people m where m.workspace_id = j.workspace_id and m.job_id = j.job_id and m.user_id = $2) end`,
    values: [workspaceId, userId],
  })
  return { ...page, items: page.items.map(withDates) }
}

/** Returns the person's role in the job itself. The role is null if the person is not a member. */
export const findOwnRole = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  userId: string,
): Promise<{ role: Role | null } | undefined> =>
  tx.maybe<{ role: Role | null }>(
    `select m.role from enrichment_jobs j
     left join job_members m on m.workspace_id = j.workspace_id and m.job_id = j.job_id and m.user_id = $3
     where j.workspace_id = $1 and j.job_id = $2`,
    [workspaceId, jobId, userId],
  )

/** The row of a job for changes. It is locked against concurrent changes. */
export type JobRow = {
  job_id: string
  name: string
  owner_id: string
  workflow_id: string | null
  workflow_gone: boolean
  definition_id: string | null
  dataset_id: string | null
  source_id: string | null
  mapping: Json
  only_if: string | null
  output_name: string | null
  output_dataset_id: string | null
  /** Whether the output is a dataset that a user named. Its id is null after that dataset was deleted. */
  output_bound: boolean
  cron: string | null
  timezone: string | null
  concurrency: number
  stop_on_error_rate: number | null
  key_column: string | null
  retry: Retry
  max_cost: number | null
  max_tokens: number | null
  legacy_ledger: boolean
  source_cursor: SourceCursor | null
  output_mode: 'replace' | 'upsert'
  status: 'idle' | 'running' | 'paused' | 'failed'
  paused_reason: string | null
  due_at: Date | null
  due_full: boolean
  due_retry_failed: boolean
  due_sample: number | null
  due_by: string | null
  last_run_id: string | null
  now: Date
}

const rowColumns = `j.job_id, j.name, j.owner_id, j.workflow_id, j.definition_id, j.dataset_id, j.source_id, j.mapping, j.only_if,
  j.output_name, j.output_dataset_id, j.output_bound, j.cron, j.timezone, j.concurrency, j.stop_on_error_rate, j.key_column,
  j.retry, j.max_cost, j.max_tokens::float8 as max_tokens, j.legacy_ledger, j.source_cursor, j.output_mode, j.status, j.paused_reason, j.due_at,
  j.due_full, j.due_retry_failed, j.due_sample, j.due_by, j.last_run_id, now() as now,
  j.workflow_id is not null and not exists (select from workflows f where f.workspace_id = j.workspace_id
    and f.workflow_id = j.workflow_id and f.deleted_at is null) as workflow_gone`

export const outputIsGone = (job: Pick<JobRow, 'output_bound' | 'output_dataset_id'>): boolean =>
  job.output_bound && job.output_dataset_id === null

/** Checks whether only the members of its workflow may see the job. */
export const isPinned = (job: Pick<JobRow, 'workflow_id' | 'workflow_gone'>): boolean =>
  job.workflow_id !== null && !job.workflow_gone

export const lockJob = (tx: Tx, workspaceId: string, jobId: string): Promise<JobRow | undefined> =>
  tx.maybe<JobRow>(
    `select ${rowColumns} from enrichment_jobs j where j.workspace_id = $1 and j.job_id = $2 for update of j`,
    [workspaceId, jobId],
  )

/** As `lockJob`, only if the job is still due and no other process is starting it. */
export const takeDueJob = (tx: Tx, workspaceId: string, jobId: string): Promise<JobRow | undefined> =>
  tx.maybe<JobRow>(
    `select ${rowColumns} from enrichment_jobs j where j.workspace_id = $1 and j.job_id = $2
       and j.status in ('idle', 'failed') and j.due_at <= now() for update of j skip locked`,
    [workspaceId, jobId],
  )

export type JobFields = Pick<
  JobRow,
  | 'name'
  | 'workflow_id'
  | 'definition_id'
  | 'dataset_id'
  | 'source_id'
  | 'mapping'
  | 'only_if'
  | 'output_name'
  | 'output_dataset_id'
  | 'output_bound'
  | 'output_mode'
  | 'cron'
  | 'timezone'
  | 'concurrency'
  | 'stop_on_error_rate'
  | 'key_column'
  | 'retry'
  | 'max_cost'
  | 'max_tokens'
  | 'due_at'
>

const valuesOf = (fields: JobFields): unknown[] => [
  fields.name,
  fields.workflow_id,
  fields.definition_id,
  fields.dataset_id,
  fields.source_id,
  fields.mapping === null ? null : JSON.stringify(fields.mapping),
  fields.only_if,
  fields.output_name,
  fields.output_dataset_id,
  fields.cron,
  fields.timezone,
  fields.concurrency,
  fields.stop_on_error_rate,
  fields.due_at,
  fields.output_bound,
  fields.key_column,
  JSON.stringify(fields.retry),
  fields.max_cost,
  fields.max_tokens,
  fields.output_mode,
]

export const insertJob = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  ownerId: string,
  fields: JobFields,
): Promise<number> =>
  tx.count(
    `insert into enrichment_jobs (workspace_id, job_id, owner_id, name, workflow_id, definition_id, dataset_id, source_id, mapping,
       only_if, output_name, output_dataset_id, cron, timezone, concurrency, stop_on_error_rate, due_at, output_bound, key_column, retry,
       max_cost, max_tokens, output_mode)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
    [workspaceId, jobId, ownerId, ...valuesOf(fields)],
  )

export const updateJob = (tx: Tx, workspaceId: string, jobId: string, fields: JobFields): Promise<number> =>
  tx.count(
    `update enrichment_jobs set name = $3, workflow_id = $4, definition_id = $5, dataset_id = $6, source_id = $7, mapping = $8,
       only_if = $9, output_name = $10, output_dataset_id = $11, cron = $12, timezone = $13, concurrency = $14,
       stop_on_error_rate = $15, due_at = $16, output_bound = $17, key_column = $18, retry = $19, max_cost = $20, max_tokens = $21, output_mode = $22, updated_at = now()
     where workspace_id = $1 and job_id = $2`,
    [workspaceId, jobId, ...valuesOf(fields)],
  )

export const deleteJob = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count('delete from enrichment_jobs where workspace_id = $1 and job_id = $2', [workspaceId, jobId])
