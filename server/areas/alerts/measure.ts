import { percentilesOf } from '#areas/insights/buckets'
import { fromBothIndexes } from '#engine/both-indexes'
import type { Tx } from '#platform/db/pool'
import type { AlertKind } from './schema.ts'

export type Watched = {
  workspace_id: string
  kind: AlertKind
  workflow_id: string | null
  window_s: number
  min_runs: number
  created_at: Date
}

/**
 * Counts the records of jobs only in a rule for one workflow. In a rule for the workspace they would outnumber all
 * other executions.
 */
const COUNTED = `($2::uuid is not null or trigger_kind <> 'job')`
const TIMED = `(measure = 'duration' or ($2::uuid is not null and measure = 'job_duration'))`

/**
 * The measured value and, if useful to the reader, the number of executions behind it. Null if there is too little
 * data.
 */
export type Measured = { value: number; runs?: number } | null

const SINCE = `date_bin('5 minutes', now() - make_interval(secs => $3), 'epoch')`

async function failureRate(tx: Tx, { workspace_id, workflow_id, window_s, min_runs }: Watched): Promise<Measured> {
  const { runs, failed } = await tx.row<{ runs: number; failed: number }>(
    `select coalesce(sum(runs), 0)::bigint as runs, coalesce(sum(runs) filter (where status in ('failed', 'timed_out')), 0)::bigint as failed
     from run_counts where workspace_id = $1 and span = 'm' and at >= ${SINCE} and ($2::uuid is null or workflow_id = $2)
       and ${COUNTED}`,
    [workspace_id, workflow_id, window_s],
  )
  return runs < min_runs ? null : { value: failed / runs, runs }
}

async function duration(tx: Tx, { workspace_id, workflow_id, window_s, min_runs }: Watched): Promise<Measured> {
  const rows = await tx.rows<{ bucket: number; runs: number }>(
    `select bucket, sum(runs)::bigint as runs from run_times where workspace_id = $1 and span = 'm' and at >= ${SINCE}
       and ${TIMED} and ($2::uuid is null or workflow_id = $2) group by bucket`,
    [workspace_id, workflow_id, window_s],
  )
  const runs = rows.reduce((sum, row) => sum + row.runs, 0)
  const found = percentilesOf(new Map(rows.map((row) => [row.bucket, row.runs])))
  return found === null || runs < min_runs ? null : { value: found.p95 / 1000, runs }
}

/** Apart from priorities, the next execution in the queue has waited longest. */
async function queueAge(tx: Tx, { workspace_id, workflow_id }: Watched): Promise<Measured> {
  const oldest = await tx.maybe<{ age_s: number }>(
    `select extract(epoch from now() - greatest(created_at, least(due_at, now())))::double precision as age_s from executions
     where workspace_id = $1 and status = 'queued' and ($2::uuid is null or workflow_id = $2) order by due_at limit 1`,
    [workspace_id, workflow_id],
  )
  return { value: Math.max(0, oldest?.age_s ?? 0) }
}

const NEWEST_RUN = fromBothIndexes(
  (
    condition,
  ) => `select execution_id, created_at from executions where workspace_id = $1 and workflow_id = $2 and ${condition}
    and trigger_kind <> 'trial' order by execution_id desc limit 1`,
)

/**
 * Trials and executions of suites do not end a silence. For a workflow that was never executed, silence starts when
 * the rule is created.
 */
async function silence(tx: Tx, { workspace_id, workflow_id, created_at }: Watched): Promise<Measured> {
  const newest =
    workflow_id === null
      ? await tx.maybe<{ created_at: Date }>(
          `select created_at from executions where workspace_id = $1 and trigger_kind <> 'trial' order by execution_id desc limit 1`,
          [workspace_id],
        )
      : await tx.maybe<{ created_at: Date }>(
          `select created_at from ${NEWEST_RUN} as e order by execution_id desc limit 1`,
          [workspace_id, workflow_id],
        )
  const last = newest && newest.created_at > created_at ? newest.created_at : created_at
  const { now } = await tx.row<{ now: Date }>('select now() as now')
  return { value: Math.max(0, (now.getTime() - last.getTime()) / 1000) }
}

/** Returns the highest spent share among the budgets that apply to the rule. */
async function budget(tx: Tx, { workspace_id, workflow_id }: Watched): Promise<Measured> {
  const { share } = await tx.row<{ share: number | null }>(
    `select max(coalesce((select sum(d.cost) from usage_days d where d.workspace_id = b.workspace_id
         and d.day >= date_trunc(b.per, now() at time zone 'utc')::date
         and case b.scope_kind when 'workflow' then d.workflow_id = b.scope_id when 'person' then d.person_id = b.scope_id
           when 'credential' then d.credential_id = b.scope_id else true end), 0) / nullif(b.amount, 0))::double precision as share
     from budgets b where b.workspace_id = $1 and ($2::uuid is null or (b.scope_kind = 'workflow' and b.scope_id = $2))`,
    [workspace_id, workflow_id],
  )
  return share === null ? null : { value: share }
}

const measures: Record<AlertKind, (tx: Tx, rule: Watched) => Promise<Measured>> = {
  failure_rate: failureRate,
  duration,
  queue_age: queueAge,
  silence,
  budget,
}

export const measure = (tx: Tx, rule: Watched): Promise<Measured> => measures[rule.kind](tx, rule)
