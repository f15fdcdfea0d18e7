import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type Schedule, scheduleList } from './schedule-schema.ts'

export type ScheduleRow = {
  schedule_id: string
  workflow_id: string
  cron: string | null
  every_s: number | null
  at: Date | null
  timezone: string
  input: Json
  overlap: 'allow' | 'skip' | 'queue' | 'cancel'
  catch_up: 'none' | 'last' | 'all'
  enabled: boolean
  next_run_at: Date | null
  last_run_at: Date | null
  last_execution_id: string | null
  last_error: string | null
  created_at: Date
  updated_at: Date
  now: Date
}

const columns = `schedule_id, workflow_id, cron, every_s, at, timezone, coalesce(input, '{}') as input, overlap, catch_up, enabled,
  coalesce(planned_at, next_run_at) as next_run_at, last_run_at, last_execution_id, last_error, created_at, updated_at, now() as now`

export const listSchedules = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<ScheduleRow>(tx, scheduleList, asked, {
    sql: `select ${columns} from schedules where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
  })

export const countSchedules = async (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from schedules where workspace_id = $1 and workflow_id = $2',
      [workspaceId, workflowId],
    )
  ).count

const readSchedule =
  (lock: '' | 'for update') =>
  (tx: Tx, workspaceId: string, workflowId: string, scheduleId: string): Promise<ScheduleRow | undefined> =>
    tx.maybe<ScheduleRow>(
      `select ${columns} from schedules where workspace_id = $1 and workflow_id = $2 and schedule_id = $3 ${lock}`,
      [workspaceId, workflowId, scheduleId],
    )

export const findSchedule = readSchedule('')
/** Locks the schedule until the end of the transaction, so that it neither changes nor fires. */
export const lockSchedule = readSchedule('for update')

/** Finds the first schedule with a cron pattern, which `/schedule` refers to. */
export const findFirst = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
): Promise<(Schedule & { schedule_id: string }) | undefined> =>
  tx.maybe<Schedule & { schedule_id: string }>(
    `select schedule_id, workflow_id, cron, timezone, coalesce(input, '{}') as input, coalesce(planned_at, next_run_at) as next_run_at, last_run_at,
       last_execution_id, last_error
     from schedules where workspace_id = $1 and workflow_id = $2 and cron is not null order by created_at, schedule_id limit 1`,
    [workspaceId, workflowId],
  )

export type ScheduleFields = Pick<
  ScheduleRow,
  'cron' | 'every_s' | 'at' | 'timezone' | 'input' | 'overlap' | 'catch_up' | 'enabled'
> & { next: Date | null; userId: string }

const values = (fields: ScheduleFields): unknown[] => [
  fields.cron,
  fields.every_s,
  fields.at,
  fields.timezone,
  JSON.stringify(fields.input ?? {}),
  fields.overlap,
  fields.catch_up,
  fields.enabled,
  fields.next,
  fields.userId,
]

export const insertSchedule = (
  tx: Tx,
  workspaceId: string,
  { workflowId, scheduleId }: { workflowId: string; scheduleId: string },
  fields: ScheduleFields,
): Promise<number> =>
  tx.count(
    `insert into schedules (workspace_id, workflow_id, schedule_id, cron, every_s, at, timezone, input, overlap, catch_up, enabled, next_run_at,
       planned_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)`,
    [workspaceId, workflowId, scheduleId, ...values(fields)],
  )

/**
 * The person who changes a schedule becomes responsible for what it starts. With `isSamePlan` the next time is kept,
 * even if it is due at this moment.
 */
export const updateSchedule = (
  tx: Tx,
  workspaceId: string,
  scheduleId: string,
  fields: ScheduleFields,
  isSamePlan: boolean,
): Promise<number> =>
  tx.count(
    `update schedules set cron = $3, every_s = $4, at = $5, timezone = $6, input = $7, overlap = $8, catch_up = $9, enabled = $10,
       next_run_at = case when $13 then next_run_at else $11 end, planned_at = case when $13 then planned_at else $11 end,
       created_by = $12, updated_at = now(), last_error = null
     where workspace_id = $1 and schedule_id = $2`,
    [workspaceId, scheduleId, ...values(fields), isSamePlan],
  )

export const deleteSchedule = (tx: Tx, workspaceId: string, workflowId: string, scheduleId: string): Promise<number> =>
  tx.count('delete from schedules where workspace_id = $1 and workflow_id = $2 and schedule_id = $3', [
    workspaceId,
    workflowId,
    scheduleId,
  ])

/** Returns the executions of a schedule that have not ended. */
export const listLiveRuns = async (tx: Tx, workspaceId: string, scheduleId: string): Promise<string[]> =>
  (
    await tx.rows<{ execution_id: string }>(
      `select execution_id from executions where workspace_id = $1 and schedule_id = $2 and status in ('queued', 'running', 'waiting')
       order by execution_id limit 1000`,
      [workspaceId, scheduleId],
    )
  ).map(({ execution_id }) => execution_id)
