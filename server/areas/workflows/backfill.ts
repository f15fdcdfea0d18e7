import { createHash } from 'node:crypto'
import { findTarget, type StartExecution } from '#areas/executions/start'
import type { JsonObject } from '#model/definition'
import { invalid, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { toWire } from '#platform/ids'
import type { Backfill, Backfilled } from './schedule-schema.ts'
import { findSchedule } from './schedule-store.ts'
import { timesBetween } from './times.ts'

// Executions for past times of a schedule, such as times before the schedule was created.

export type BackfillParts = { startExecution: StartExecution }
type Wanted = { workflow_id: string; schedule_id: string } & Backfill

const MAX_TIMES = 500
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The idempotency key of a time. A time that is requested again within a day does not run again. */
const keyOf = (scheduleId: string, at: Date) => ({
  credentialHash: sha256(`backfill ${scheduleId}`),
  keyHash: sha256(at.toISOString()),
  bodySha256: sha256(''),
})

/** Returns the schedule and what its executions start. */
export const findBackfilled = (
  ctx: Context,
  { workflow_id, schedule_id }: Pick<Wanted, 'workflow_id' | 'schedule_id'>,
) =>
  ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const { workspace_id } = ctx.workspace
    const schedule = await findSchedule(tx, workspace_id, workflow_id, schedule_id)
    if (!schedule) throw problem('not_found')
    return { schedule, target: await findTarget(tx, workspace_id, workflow_id) }
  })

export async function backfillSchedule(
  parts: BackfillParts,
  ctx: Context,
  { workflow_id, schedule_id, from, to }: Wanted,
): Promise<Backfilled> {
  const { workspace_id } = ctx.workspace
  const { schedule, target } = await findBackfilled(ctx, { workflow_id, schedule_id })
  if (from >= to) throw invalid([{ path: '/to', message: 'must be after from' }])
  if (to > schedule.now) throw invalid([{ path: '/to', message: 'must not be in the future' }])
  const times = timesBetween({ ...schedule, anchor: schedule.created_at }, from, to, MAX_TIMES)
  if (times.length > MAX_TIMES)
    throw invalid([{ path: '/from', message: `holds more than ${MAX_TIMES} times; take a shorter span` }])
  const runs: Backfilled['runs'] = []
  for (const at of times) {
    const { executionId } = await parts.startExecution(workspace_id, target, schedule.input as JsonObject, {
      trigger: { kind: 'schedule', id: toWire('sch', schedule_id) },
      startedBy: ctx.person.user_id,
      idempotency: keyOf(schedule_id, at),
      more: { labels: { scheduledAt: at, scheduleId: schedule_id } },
    })
    runs.push({ execution_id: executionId, scheduled_at: at })
  }
  ctx.status(202)
  return { runs }
}
