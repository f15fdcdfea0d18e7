import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Job, JobMember, LastRun, LedgerItem, Role } from './schema.ts'

/** `a.pending` and the like: what has no row yet is pending too. */
export const countsOf = (of: string): string =>
  `json_build_object('pending', ${of}.total - ${of}.running - ${of}.succeeded - ${of}.failed - ${of}.skipped, 'running', ${of}.running,
    'succeeded', ${of}.succeeded, 'failed', ${of}.failed, 'skipped', ${of}.skipped)`

const columns = `j.job_id, j.name, j.owner_id, j.workflow_id, d.definition, j.dataset_id, j.source_id, j.mapping, j.only_if,
  case when j.output_name is not null then json_build_object('new', j.output_name, 'dataset_id', j.output_dataset_id)
    when j.output_dataset_id is not null then json_build_object('dataset_id', j.output_dataset_id) end as output,
  case when j.cron is not null then json_build_object('cron', j.cron, 'timezone', j.timezone) end as schedule,
  j.concurrency, j.stop_on_error_rate,
  coalesce((select json_agg(json_build_object('user_id', m.user_id, 'role', m.role) order by m.user_id) from job_members m
    where m.workspace_id = j.workspace_id and m.job_id = j.job_id), '[]') as members,
  case when j.status in ('idle', 'failed') and j.due_at <= now() then 'due' else j.status end as status,
  j.paused_reason, j.due_at,
  case when r.run_id is not null then json_build_object('run_id', r.run_id, 'status', r.status, 'full', r.is_full, 'total', r.total,
    'counts', ${countsOf('r')}, 'dataset_sha256', r.dataset_sha256, 'version_id', r.version_id, 'error', r.error,
    'started_at', r.started_at, 'finished_at', r.finished_at) end as last_run,
  j.created_at, j.updated_at`

const tables = `enrichment_jobs j
  left join job_definitions d on d.workspace_id = j.workspace_id and d.definition_id = j.definition_id
  left join ledger_runs r on r.workspace_id = j.workspace_id and r.run_id = j.last_run_id`

/** PostgreSQL's JSON writes times in its own way. */
const withDates = (job: Job): Job =>
  job.last_run === null
    ? job
    : {
        ...job,
        last_run: {
          ...job.last_run,
          started_at: new Date(job.last_run.started_at),
          finished_at: job.last_run.finished_at === null ? null : new Date(job.last_run.finished_at),
        } satisfies LastRun,
      }

export const findJob = async (tx: Tx, workspaceId: string, jobId: string): Promise<Job | undefined> => {
  const job = await tx.maybe<Job>(`select ${columns} from ${tables} where j.workspace_id = $1 and j.job_id = $2`, [
    workspaceId,
    jobId,
  ])
  return job && withDates(job)
}

/** Those the person may see, newest first. */
export const listJobs = async (
  tx: Tx,
  workspaceId: string,
  userId: string,
  before: string | null,
  limit: number,
): Promise<Job[]> => {
  const rows = await tx.rows<Job>(
    `select ${columns} from ${tables}
     left join workflows f on f.workspace_id = j.workspace_id and f.workflow_id = j.workflow_id and f.deleted_at is null
     where j.workspace_id = $1 and ($3::uuid is null or j.job_id < $3)
       and case when f.workflow_id is not null then f.owner_id = $2 or exists (select from workflow_members m
           where m.workspace_id = j.workspace_id and m.workflow_id = j.workflow_id and m.user_id = $2)
         else exists (select from job_members m where m.workspace_id = j.workspace_id and m.job_id = j.job_id and m.user_id = $2) end
     order by j.job_id desc limit $4`,
    [workspaceId, userId, before, limit + 1],
  )
  return rows.map(withDates)
}

/** What the person is in the job itself; a row without a role where they are nothing in it. */
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

/** The row as it stands, for changes; keeps others who change it waiting. */
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
  cron: string | null
  timezone: string | null
  concurrency: number
  stop_on_error_rate: number | null
  status: 'idle' | 'running' | 'paused' | 'failed'
  paused_reason: string | null
  due_at: Date | null
  due_full: boolean
  due_by: string | null
  last_run_id: string | null
  now: Date
}

const rowColumns = `j.job_id, j.name, j.owner_id, j.workflow_id, j.definition_id, j.dataset_id, j.source_id, j.mapping, j.only_if,
  j.output_name, j.output_dataset_id, j.cron, j.timezone, j.concurrency, j.stop_on_error_rate, j.status, j.paused_reason, j.due_at,
  j.due_full, j.due_by, j.last_run_id, now() as now,
  j.workflow_id is not null and not exists (select from workflows f where f.workspace_id = j.workspace_id
    and f.workflow_id = j.workflow_id and f.deleted_at is null) as workflow_gone`

export const lockJob = (tx: Tx, workspaceId: string, jobId: string): Promise<JobRow | undefined> =>
  tx.maybe<JobRow>(
    `select ${rowColumns} from enrichment_jobs j where j.workspace_id = $1 and j.job_id = $2 for update of j`,
    [workspaceId, jobId],
  )

/** The same where it is still due and nobody else is taking it up. */
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
  | 'cron'
  | 'timezone'
  | 'concurrency'
  | 'stop_on_error_rate'
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
       only_if, output_name, output_dataset_id, cron, timezone, concurrency, stop_on_error_rate, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [workspaceId, jobId, ownerId, ...valuesOf(fields)],
  )

export const updateJob = (tx: Tx, workspaceId: string, jobId: string, fields: JobFields): Promise<number> =>
  tx.count(
    `update enrichment_jobs set name = $3, workflow_id = $4, definition_id = $5, dataset_id = $6, source_id = $7, mapping = $8,
       only_if = $9, output_name = $10, output_dataset_id = $11, cron = $12, timezone = $13, concurrency = $14,
       stop_on_error_rate = $15, due_at = $16, updated_at = now()
     where workspace_id = $1 and job_id = $2`,
    [workspaceId, jobId, ...valuesOf(fields)],
  )

export const deleteJob = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count('delete from enrichment_jobs where workspace_id = $1 and job_id = $2', [workspaceId, jobId])

export const insertDefinition = (
  tx: Tx,
  workspaceId: string,
  definition: { definition_id: string; job_id: string; definition: Json; sha256: string },
): Promise<number> =>
  tx.count(
    'insert into job_definitions (workspace_id, definition_id, job_id, definition, sha256) values ($1, $2, $3, $4, $5)',
    [
      workspaceId,
      definition.definition_id,
      definition.job_id,
      JSON.stringify(definition.definition),
      definition.sha256,
    ],
  )

export const findDefinition = (
  tx: Tx,
  workspaceId: string,
  definitionId: string,
): Promise<{ definition: Json; sha256: string } | undefined> =>
  tx.maybe('select definition, sha256 from job_definitions where workspace_id = $1 and definition_id = $2', [
    workspaceId,
    definitionId,
  ])

/** What a pinned job executes: the active version of its workflow. */
export type PinnedTo = {
  owner_id: string
  role: 'member' | 'viewer' | null
  version_id: string | null
  inputs: Json
}
export const findPinnedTo = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  userId: string | null,
): Promise<PinnedTo | undefined> =>
  tx.maybe<PinnedTo>(
    `select f.owner_id, m.role, v.version_id, v.definition -> 'inputs' as inputs from workflows f
     left join workflow_members m on m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = $3
     left join workflow_versions v on v.workspace_id = f.workspace_id and v.workflow_id = f.workflow_id and v.active
     where f.workspace_id = $1 and f.workflow_id = $2 and f.deleted_at is null`,
    [workspaceId, workflowId, userId],
  )

export const exists = async (tx: Tx, what: 'datasets' | 'sources', workspaceId: string, id: string): Promise<boolean> =>
  (await tx.maybe(
    what === 'datasets'
      ? 'select from datasets where workspace_id = $1 and dataset_id = $2'
      : 'select from sources where workspace_id = $1 and source_id = $2',
    [workspaceId, id],
  )) !== undefined

/** The state of the connection behind a source. */
export const findConnectionOf = (
  tx: Tx,
  workspaceId: string,
  sourceId: string,
): Promise<{ connection_id: string; name: string; revoked: boolean } | undefined> =>
  tx.maybe(
    `select c.connection_id, c.name, c.status = 'revoked' as revoked from sources s
     join connections c on c.workspace_id = s.workspace_id and c.connection_id = s.connection_id
     where s.workspace_id = $1 and s.source_id = $2`,
    [workspaceId, sourceId],
  )

// Due, paused, running.

export const setDue = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  due: { full: boolean; by: string },
): Promise<number> =>
  tx.count(
    `update enrichment_jobs set due_at = now(), due_full = $3 or (due_full and due_at <= now()), due_by = $4,
       status = case when status <> 'paused' then status when live then 'running' else 'idle' end, paused_reason = null
     from (select exists (select from ledger_runs where workspace_id = $1 and job_id = $2 and finished_at is null) as live) as its
     where workspace_id = $1 and job_id = $2`,
    [workspaceId, jobId, due.full, due.by],
  )

export const pauseJob = (tx: Tx, workspaceId: string, jobId: string, reason: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs set status = 'paused', paused_reason = $3, updated_at = now()
     where workspace_id = $1 and job_id = $2 and status <> 'paused'`,
    [workspaceId, jobId, reason],
  )

/** Goes on with the run that was interrupted, or waits for the next. */
export const resumeJob = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs set status = case when exists (select from ledger_runs r where r.workspace_id = $1 and r.job_id = $2
         and r.finished_at is null) then 'running' else 'idle' end,
       paused_reason = null, updated_at = now()
     where workspace_id = $1 and job_id = $2 and status = 'paused'`,
    [workspaceId, jobId],
  )

/** Lets a run that was put aside be taken up again. */
export const freeRuns = (tx: Tx, workspaceId: string, jobIds: string[]): Promise<number> =>
  tx.count(
    `update ledger_runs set lease_until = now() where workspace_id = $1 and job_id = any ($2) and finished_at is null
       and lease_until = 'infinity'`,
    [workspaceId, jobIds],
  )

export const cancelRun = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update ledger_runs set cancelling = true, lease_until = case when lease_until = 'infinity' then now() else lease_until end
     where workspace_id = $1 and job_id = $2 and finished_at is null`,
    [workspaceId, jobId],
  )

/** Before the job is deleted: what its live run holds. */
export const findLiveRun = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
): Promise<{ run_id: string; captured_version_id: string | null } | undefined> =>
  tx.maybe(
    'select run_id, captured_version_id from ledger_runs where workspace_id = $1 and job_id = $2 and finished_at is null',
    [workspaceId, jobId],
  )

/** Executions that belong to a job and are not over. */
export const listLiveExecutions = async (tx: Tx, workspaceId: string, triggerId: string): Promise<string[]> =>
  (
    await tx.rows<{ execution_id: string }>(
      `select execution_id from executions where workspace_id = $1 and trigger_kind = 'job' and trigger_id = $2
         and status in ('queued', 'running', 'waiting')`,
      [workspaceId, triggerId],
    )
  ).map(({ execution_id }) => execution_id)

export const appendEvent = async (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  type: 'job.started' | 'job.progress' | 'job.finished' | 'job.paused',
  data: Json,
): Promise<void> => {
  const row = await tx.maybe<{ event_seq: number }>(
    'update enrichment_jobs set event_seq = event_seq + 1 where workspace_id = $1 and job_id = $2 returning event_seq',
    [workspaceId, jobId],
  )
  if (!row) return
  await tx.count('insert into job_events (workspace_id, job_id, seq, type, data) values ($1, $2, $3, $4, $5)', [
    workspaceId,
    jobId,
    row.event_seq,
    type,
    JSON.stringify(data),
  ])
  if (row.event_seq % 100 === 0)
    await tx.count('delete from job_events where workspace_id = $1 and job_id = $2 and seq <= $3', [
      workspaceId,
      jobId,
      row.event_seq - KEPT_EVENTS,
    ])
  tx.hint(JOB_HINTS, jobId)
}

/** What a socket that was away can catch up on; older entries are told as a gap. */
const KEPT_EVENTS = 1000
export const JOB_HINTS = 'jobs'
/** Somebody made something due. */
export const DUE_HINTS = 'jobs_due'

// Members.

export const listMembers = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  after: string | null,
  limit: number,
): Promise<JobMember[]> =>
  tx.rows<JobMember>(
    `select m.user_id, u.name, u.email, m.role, m.added_at from job_members m join users u on u.user_id = m.user_id
     where m.workspace_id = $1 and m.job_id = $2 and ($3::uuid is null or m.user_id > $3) order by m.user_id limit $4`,
    [workspaceId, jobId, after, limit + 1],
  )

export const findMember = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  userId: string,
): Promise<JobMember | undefined> =>
  tx.maybe<JobMember>(
    `select m.user_id, u.name, u.email, m.role, m.added_at from job_members m join users u on u.user_id = m.user_id
     where m.workspace_id = $1 and m.job_id = $2 and m.user_id = $3`,
    [workspaceId, jobId, userId],
  )

export const putMember = (tx: Tx, workspaceId: string, jobId: string, userId: string, role: Role): Promise<number> =>
  tx.count(
    `insert into job_members (workspace_id, job_id, user_id, role) values ($1, $2, $3, $4)
     on conflict (workspace_id, job_id, user_id) do update set role = excluded.role`,
    [workspaceId, jobId, userId, role],
  )

export const deleteMember = (tx: Tx, workspaceId: string, jobId: string, userId: string): Promise<number> =>
  tx.count('delete from job_members where workspace_id = $1 and job_id = $2 and user_id = $3', [
    workspaceId,
    jobId,
    userId,
  ])

export const countOwners = async (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  (
    await tx.row<{ owners: number }>(
      `select count(*) as owners from job_members where workspace_id = $1 and job_id = $2 and role = 'owner'`,
      [workspaceId, jobId],
    )
  ).owners

/** `owner_id` is an owner; where that person is none any more, the one who has been so for longest. */
export const settleOwner = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs j set owner_id = o.user_id
     from (select user_id from job_members where workspace_id = $1 and job_id = $2 and role = 'owner' order by added_at, user_id limit 1) o
     where j.workspace_id = $1 and j.job_id = $2 and not exists (select from job_members m where m.workspace_id = $1
       and m.job_id = $2 and m.user_id = j.owner_id and m.role = 'owner')`,
    [workspaceId, jobId],
  )

// The ledger, as people see it.

export type LedgerHead = { run_id: string; total: number; counts: LastRun['counts']; dataset_sha256: string | null }

export const findLedger = (tx: Tx, workspaceId: string, jobId: string): Promise<LedgerHead | undefined> =>
  tx.maybe<LedgerHead>(
    `select r.run_id, r.total, ${countsOf('r')} as counts, r.dataset_sha256 from enrichment_jobs j
     join ledger_runs r on r.workspace_id = j.workspace_id and r.run_id = j.last_run_id
     where j.workspace_id = $1 and j.job_id = $2`,
    [workspaceId, jobId],
  )

/** A record below the watermark that was not tried before has been begun, although its row says so only when it ends. */
const BEGUN = `(r.status = 'running' or (r.status = 'pending' and r.due_at is null and r.attempt = 0 and r.position < u.claimed and u.finished_at is null))`
const conditions: Record<string, string> = {
  pending: `r.status = 'pending' and not ${BEGUN}`,
  running: BEGUN,
  succeeded: `r.status = 'succeeded'`,
  failed: `r.status = 'failed' and r.error is not null`,
  skipped: `r.status = 'skipped'`,
}

export const listRecords = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  status: string,
  after: number,
  limit: number,
): Promise<LedgerItem[]> =>
  tx.rows<LedgerItem>(
    `select r.position, encode(r.record_sha256, 'hex') as record_sha256, $3::text as status, r.attempt, r.error, r.execution_id,
       r.duration_ms, r.usage, r.due_at, r.finished_at
     from ledger_records r join ledger_runs u on u.workspace_id = r.workspace_id and u.run_id = r.run_id
     where r.workspace_id = $1 and r.run_id = $2 and r.position > $4 and ${conditions[status]}
     order by r.position limit $5`,
    [workspaceId, runId, status, after, limit + 1],
  )
