import { ACTIVATION_REQUIRED, type Quota, reasonAgainst } from '#areas/executions/start'
import { enqueue } from '#engine/enqueue'
import { type FlowSettings, flowOf } from '#engine/flow/rules'
import { nudge } from '#engine/nudges'
import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { newId, toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import { type Plans, replanAfterPutBack } from './replan.ts'
import { listLiveRuns, type ScheduleRow } from './schedule-store.ts'
import { catchUp, nextTime } from './times.ts'

// Starts schedules that are due. The start and the step to the next time are one transaction, so that a schedule
// neither fires twice nor is skipped, regardless of the number of servers.

const POLL_AT_LEAST_EVERY = 5 * SECOND
const AT_ONCE = 100

const PLANS: Plans = {
  name: 'schedules',
  list: 'select * from schedules_ahead($1, $2, $3)',
  move: 'update schedules set next_run_at = $4, planned_at = $4 where workspace_id = $1 and schedule_id = $2 and next_run_at = $3',
}

type Due = { workspace_id: string; schedule_id: string }
type Row = Pick<
  ScheduleRow,
  'workflow_id' | 'cron' | 'every_s' | 'at' | 'timezone' | 'input' | 'overlap' | 'catch_up'
> & {
  anchor: Date
  due: Date
  /** The schedule was put off: its times up to then passed while it waited, so they were not missed. */
  put_off: boolean
  version_id: string | null
  inputs: Json | null
  settings: FlowSettings & { timeout_s?: number }
  activation_required: boolean
  principal_id: string
  created_by: string | null
  now: Date
}

const DUE = `select s.workflow_id, s.cron, s.every_s, s.at, s.timezone, coalesce(s.input, '{}') as input, s.overlap, s.catch_up, s.created_at as anchor,
    least(s.planned_at, s.next_run_at) as due, coalesce(s.planned_at < s.next_run_at, false) as put_off, v.version_id, v.definition -> 'inputs' as inputs, w.settings, now() as now,
    w.activation_required, coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id, s.created_by
  from schedules s join workflows w on w.workspace_id = s.workspace_id and w.workflow_id = s.workflow_id
  left join workflow_versions v on v.workspace_id = s.workspace_id and v.workflow_id = s.workflow_id and v.active
  where s.workspace_id = $1 and s.schedule_id = $2 and s.next_run_at <= now() for update of s skip locked`

const STILL_RUNNING = 'The previous run had not ended, so this time was skipped.'

/** Starts due schedules. It is woken when a schedule is changed in this process. */
export function makeScheduler(options: { db: Database; log: Logger; quota: Quota }): PeriodicCheck {
  const { db, log, quota } = options

  async function fire(due: Due): Promise<void> {
    const executionId = newId()
    const refusal = await reasonAgainst(quota, due.workspace_id)
    let started = false
    try {
      started = await db.tenant({ workspaceId: due.workspace_id, userId: null }, (tx) =>
        startAndStep(tx, due, executionId, refusal),
      )
    } finally {
      if (!started && refusal === null) quota.giveBack(due.workspace_id)
    }
  }

  async function check(): Promise<number> {
    await replanAfterPutBack(db, log, PLANS)
    const { rows } = await db.appPool.query<Due>('select * from schedules_due_now($1)', [AT_ONCE])
    for (const due of rows) {
      await fire(due).catch(async (error: unknown) => {
        log.error({ err: error, schedule_id: due.schedule_id }, 'a schedule could not be started')
        const scope = { workspaceId: due.workspace_id, userId: null }
        await db.tenant(scope, (tx) => putOff(tx, due)).catch(() => {})
      })
    }
    const { rows: next } = await db.appPool.query<{ in_ms: number | null }>(
      'select (extract(epoch from next_schedule_at() - now()) * 1000)::float8 as in_ms',
    )
    if (rows.length === AT_ONCE) return 0
    return Math.min(POLL_AT_LEAST_EVERY, Math.max(50, next[0]?.in_ms ?? POLL_AT_LEAST_EVERY))
  }

  return makePeriodicCheck({ check, onError: (error) => log.warn({ err: error }, 'schedules could not be read') })
}

/** Returns whether an execution was started. */
async function startAndStep(tx: Tx, due: Due, executionId: string, refusal: string | null): Promise<boolean> {
  const row = await tx.maybe<Row>(DUE, [due.workspace_id, due.schedule_id])
  if (!row) return false
  const isQueued = row.overlap === 'queue'
  // No time is left out that passed while an earlier run had not ended.
  const { runFor, after } =
    isQueued && row.put_off ? { runFor: row.due, after: row.due } : catchUp(row, row.catch_up, row)
  if (runFor === null) {
    await step(tx, due, nextTime(row, after), { ran: false, error: null, executionId: null })
    return false
  }
  const live = row.overlap === 'allow' ? [] : await listLiveRuns(tx, due.workspace_id, due.schedule_id)
  if (isQueued && live.length > 0) {
    await putOff(tx, due, runFor)
    return false
  }
  const error = refusal ?? reasonNotToStart(row) ?? (row.overlap === 'skip' && live.length > 0 ? STILL_RUNNING : null)
  if (error === null) {
    if (row.overlap === 'cancel') await cancelRuns(tx, due.workspace_id, live, due.schedule_id)
    // If the queue is full, the schedule is delayed, so that it neither loops nor blocks other schedules.
    if ((await startRun(tx, due, row, executionId, runFor)) !== 'accepted') {
      await putOff(tx, due, runFor)
      return false
    }
  }
  // Queued times run one after another, so the next time counts from this time and not from now.
  const from = isQueued ? runFor : after
  await step(tx, due, nextTime(row, from), { ran: true, error, executionId: error === null ? executionId : null })
  return error === null
}

const startRun = (tx: Tx, due: Due, row: Row, executionId: string, scheduledAt: Date) =>
  enqueue(tx, {
    workspaceId: due.workspace_id,
    executionId,
    input: row.input ?? {},
    definitionRef: `version:${row.version_id}`,
    workflowId: row.workflow_id,
    versionId: row.version_id,
    timeoutS: row.settings.timeout_s ?? null,
    flow: flowOf(row.settings),
    trigger: { kind: 'schedule', id: toWire('sch', due.schedule_id) },
    startedBy: null,
    principalId: row.principal_id,
    initiatedBy: [{ kind: 'schedule', id: toWire('sch', due.schedule_id), user_id: row.created_by }],
    labels: { scheduledAt, scheduleId: due.schedule_id },
  })

async function cancelRuns(tx: Tx, workspaceId: string, executionIds: string[], scheduleId: string): Promise<void> {
  for (const executionId of executionIds) {
    await tx.rows('select engine.cancel($1, $2, $3)', [workspaceId, executionId, toWire('sch', scheduleId)])
    nudge(tx, executionId)
  }
}

const step = (
  tx: Tx,
  { workspace_id, schedule_id }: Due,
  next: Date | null,
  of: { ran: boolean; error: string | null; executionId: string | null },
): Promise<number> =>
  tx.count(
    // If the next time passed while the schedule was put off, it stays put off.
    `update schedules set next_run_at = case when $3 < next_run_at then next_run_at else $3 end, planned_at = $3, last_run_at = case when $4 then now() else last_run_at end,
       last_execution_id = coalesce($5, last_execution_id), last_error = case when $4 then $6 else last_error end
     where workspace_id = $1 and schedule_id = $2`,
    [workspace_id, schedule_id, next, of.ran, of.executionId, of.error],
  )

/** Delays a schedule. It stays due for its original time, or for the time that catching up has chosen. */
const putOff = (tx: Tx, { workspace_id, schedule_id }: Due, runFor: Date | null = null): Promise<number> =>
  tx.count(
    `update schedules set next_run_at = now() + interval '5 seconds', planned_at = coalesce($3, planned_at)
     where workspace_id = $1 and schedule_id = $2 and next_run_at <= now()`,
    [workspace_id, schedule_id, runFor],
  )

function reasonNotToStart(row: Row): string | null {
  if (row.activation_required) return ACTIVATION_REQUIRED
  if (row.version_id === null) return 'The workflow has no active version.'
  const [issue] = validateJson(row.inputs ?? true, row.input ?? {})
  return issue ? `The input no longer matches the workflow: ${issue.path} ${issue.message}` : null
}
