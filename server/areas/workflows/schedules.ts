import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import type { NewSchedule, Schedule, SchedulePatch, SchedulePut, WorkflowSchedule } from './schedule-schema.ts'
import * as store from './schedule-store.ts'
import { findActiveVersion, lockWorkflow } from './store.ts'
import { nextRun, nextTime, nextTimes, type Plan } from './times.ts'

type ById = { workflow_id: string }
type OneOf = ById & { schedule_id: string }

export type ScheduleParts = { onChanged(): void }

const MAX_SCHEDULES = 50
const SHOWN_TIMES = 5

function checkTimezone(timezone: string, path: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw invalid([{ path: `${path}/timezone`, message: 'is not an IANA time zone such as Europe/Amsterdam' }])
  }
}

/** Refuses dates, which fire only once, and names such as `@daily`, which are not patterns. */
function checkCron(cron: string, timezone: string, path: string): void {
  const message = 'is not a cron pattern of five fields (minute, hour, day, month, weekday) such as 0 6 * * 1-5'
  if (cron.trim().split(/\s+/).length !== 5) throw invalid([{ path: `${path}/cron`, message }])
  try {
    nextRun(cron, timezone, new Date())
  } catch {
    throw invalid([{ path: `${path}/cron`, message }])
  }
}

/** Returns the current time, not the start time of the transaction, which may have waited. */
const databaseNow = async (tx: Tx): Promise<Date> =>
  (await tx.row<{ now: Date }>('select clock_timestamp() as now')).now

/**
 * Returns the first time by the database's clock. Refuses an invalid pattern or time zone, and a pattern that never
 * fires.
 */
export async function firstRun(tx: Tx, cron: string, timezone: string, path = ''): Promise<Date> {
  checkTimezone(timezone, path)
  checkCron(cron, timezone, path)
  const next = nextRun(cron, timezone, await databaseNow(tx))
  if (next === null) throw invalid([{ path: `${path}/cron`, message: 'never fires' }])
  return next
}

async function checkInput(tx: Tx, workspaceId: string, workflowId: string, input: Json): Promise<void> {
  const version = await findActiveVersion(tx, workspaceId, workflowId)
  if (!version) throw problem('no_active_version', 'Publish a version of the workflow first.')
  const issues = validateJson(((version.definition as { inputs?: Json }).inputs ?? true) as Json, input)
  if (issues.length > 0) throw invalid(issues.map((issue) => ({ ...issue, path: `/input${issue.path}` })))
}

const planOf = (row: Pick<store.ScheduleRow, 'cron' | 'every_s' | 'at' | 'timezone' | 'created_at'>): Plan => ({
  ...row,
  anchor: row.created_at,
})

const shown = (row: store.ScheduleRow): WorkflowSchedule => {
  const { now, ...rest } = row
  const { next_run_at } = row
  if (!row.enabled || next_run_at === null) return { ...rest, next_runs: [] }
  const from = new Date(Math.max(next_run_at.getTime(), now.getTime()))
  const later = nextTimes(planOf(row), from, SHOWN_TIMES - 1)
  return { ...rest, next_runs: [next_run_at, ...later] }
}

/** Returns the next time of a changed schedule. Refuses invalid and past times. */
async function plan(
  tx: Tx,
  fields: Omit<store.ScheduleFields, 'next' | 'userId'>,
  anchor: Date | null,
): Promise<Date | null> {
  const { cron, every_s, at, timezone, enabled } = fields
  const given = [cron, every_s, at].filter((value) => value !== null).length
  if (given !== 1) throw invalid([{ path: '/cron', message: 'exactly one of cron, every_s and at is required' }])
  checkTimezone(timezone, '')
  if (cron !== null) checkCron(cron, timezone, '')
  const now = await databaseNow(tx)
  const next = nextTime({ cron, every_s, at, timezone, anchor: anchor ?? now }, now)
  if (next === null && enabled)
    throw invalid([at === null ? { path: '/cron', message: 'never fires' } : { path: '/at', message: 'has passed' }])
  return enabled ? next : null
}

export async function listSchedules(ctx: Context, { workflow_id, ...asked }: ById & ListInput) {
  const page = await store.listSchedules(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)
  return { ...page, items: page.items.map(shown) }
}

export async function getOneSchedule(ctx: Context, { workflow_id, schedule_id }: OneOf): Promise<WorkflowSchedule> {
  const row = await store.findSchedule(ctx.tx, ctx.workspace.workspace_id, workflow_id, schedule_id)
  if (!row) throw problem('not_found')
  return shown(row)
}

export async function createSchedule(
  parts: ScheduleParts,
  ctx: Context,
  { workflow_id, ...given }: ById & NewSchedule,
): Promise<WorkflowSchedule> {
  const { tx } = ctx
  const { workspace_id } = ctx.workspace
  const { cron = null, every_s = null, at = null, input, ...rest } = given
  const fields = { cron, every_s, at, input: (input ?? {}) as Json, ...rest }
  const next = await plan(tx, fields, null)
  await checkInput(tx, workspace_id, workflow_id, fields.input)
  await lockWorkflow(tx, workspace_id, workflow_id)
  if ((await store.countSchedules(tx, workspace_id, workflow_id)) >= MAX_SCHEDULES)
    throw problem('conflict', `A workflow has at most ${MAX_SCHEDULES} schedules.`)
  const schedule_id = newId()
  const made = { ...fields, next, userId: ctx.person.user_id }
  await store.insertSchedule(tx, workspace_id, { workflowId: workflow_id, scheduleId: schedule_id }, made)
  ctx.afterCommit(parts.onChanged)
  return getOneSchedule(ctx, { workflow_id, schedule_id })
}

/** Applies a patch. A given cron, every_s or at replaces the others. */
function merged(present: store.ScheduleRow, patch: SchedulePatch): Omit<store.ScheduleFields, 'next' | 'userId'> {
  const { cron, every_s, at } = patch
  const isNewTime = [cron, every_s, at].some((value) => value !== undefined && value !== null)
  return {
    cron: cron ?? (isNewTime ? null : present.cron),
    every_s: every_s ?? (isNewTime ? null : present.every_s),
    at: at ?? (isNewTime ? null : present.at),
    timezone: patch.timezone ?? present.timezone,
    input: (patch.input === undefined ? present.input : (patch.input ?? {})) as Json,
    overlap: patch.overlap ?? present.overlap,
    catch_up: patch.catch_up ?? present.catch_up,
    enabled: patch.enabled ?? present.enabled,
  }
}

type Planned = Pick<store.ScheduleRow, 'cron' | 'every_s' | 'at' | 'timezone' | 'enabled'>

const isSamePlan = (before: Planned, after: Planned): boolean =>
  before.cron === after.cron &&
  before.every_s === after.every_s &&
  before.at?.getTime() === after.at?.getTime() &&
  before.timezone === after.timezone &&
  before.enabled === after.enabled

export async function updateSchedule(
  parts: ScheduleParts,
  ctx: Context,
  { workflow_id, schedule_id, ...patch }: OneOf & SchedulePatch,
): Promise<WorkflowSchedule> {
  const { workspace_id } = ctx.workspace
  const present = await store.lockSchedule(ctx.tx, workspace_id, workflow_id, schedule_id)
  if (!present) throw problem('not_found')
  const fields = merged(present, patch)
  const isSame = isSamePlan(present, fields)
  const next = isSame ? null : await plan(ctx.tx, fields, present.created_at)
  if (patch.input !== undefined) await checkInput(ctx.tx, workspace_id, workflow_id, fields.input)
  const changed = { ...fields, next, userId: ctx.person.user_id }
  await store.updateSchedule(ctx.tx, workspace_id, schedule_id, changed, isSame)
  ctx.afterCommit(parts.onChanged)
  return getOneSchedule(ctx, { workflow_id, schedule_id })
}

export async function removeSchedule(ctx: Context, { workflow_id, schedule_id }: OneOf): Promise<void> {
  const gone = await store.deleteSchedule(ctx.tx, ctx.workspace.workspace_id, workflow_id, schedule_id)
  if (gone === 0) throw problem('not_found')
}

export async function presentSchedule(ctx: Context, { workflow_id }: ById): Promise<Schedule | undefined> {
  const first = await store.findFirst(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  if (!first) return undefined
  const { schedule_id: _id, ...schedule } = first
  return schedule
}

export async function getSchedule(ctx: Context, { workflow_id }: ById): Promise<Schedule> {
  const schedule = await presentSchedule(ctx, { workflow_id })
  if (!schedule) throw problem('not_found', 'The workflow has no schedule.')
  return schedule
}

/** Sets the first schedule with a cron pattern. Other schedules are not changed. */
export async function putSchedule(
  parts: ScheduleParts,
  ctx: Context,
  { workflow_id, cron, timezone, input }: ById & SchedulePut,
): Promise<Schedule> {
  const { workspace_id } = ctx.workspace
  const next = await firstRun(ctx.tx, cron, timezone)
  await checkInput(ctx.tx, workspace_id, workflow_id, (input ?? {}) as Json)
  // The lock ensures that two concurrent requests create one schedule.
  await lockWorkflow(ctx.tx, workspace_id, workflow_id)
  const first = await store.findFirst(ctx.tx, workspace_id, workflow_id)
  const present = first && (await store.lockSchedule(ctx.tx, workspace_id, workflow_id, first.schedule_id))
  const { overlap = 'allow', catch_up = 'last' } = present ?? {}
  const fields = {
    cron,
    every_s: null,
    at: null,
    timezone,
    input: (input ?? {}) as Json,
    overlap,
    catch_up,
    enabled: true,
    next,
    userId: ctx.person.user_id,
  }
  if (present)
    await store.updateSchedule(ctx.tx, workspace_id, present.schedule_id, fields, isSamePlan(present, fields))
  else await store.insertSchedule(ctx.tx, workspace_id, { workflowId: workflow_id, scheduleId: newId() }, fields)
  ctx.afterCommit(parts.onChanged)
  return getSchedule(ctx, { workflow_id })
}

export async function deleteFirstSchedule(ctx: Context, { workflow_id }: ById): Promise<void> {
  const first = await store.findFirst(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  if (!first) throw problem('not_found', 'The workflow has no schedule.')
  await store.deleteSchedule(ctx.tx, ctx.workspace.workspace_id, workflow_id, first.schedule_id)
}
