import { Cron } from 'croner'
import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Schedule, SchedulePut } from './schema.ts'
import { findActiveVersion } from './store.ts'

type ById = { workflow_id: string }

const columns = 'workflow_id, cron, timezone, input, next_run_at, last_run_at, last_execution_id, last_error'

/**
 * The next time after `after`, or null where there is none. In the hour that daylight saving skips, a schedule fires at
 * the first minute that exists.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  return new Cron(cron, { timezone, mode: '5-part' }).nextRun(after)
}

/** Undefined for what is no pattern. A date, which fires once and never again, and names such as `@daily` are none. */
function tryNextRun(cron: string, timezone: string, after: Date): Date | null | undefined {
  if (cron.trim().split(/\s+/).length !== 5) return undefined
  try {
    return nextRun(cron, timezone, after)
  } catch {
    return undefined
  }
}

/** The first time, by the database's clock. Refuses a pattern or a time zone that means nothing, and a pattern that never fires. */
export async function firstRun(tx: Tx, cron: string, timezone: string, path = ''): Promise<Date> {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw invalid([{ path: `${path}/timezone`, message: 'is not an IANA time zone such as Europe/Amsterdam' }])
  }
  const { now } = await tx.row<{ now: Date }>('select now()')
  const next = tryNextRun(cron, timezone, now)
  if (next === undefined) {
    const message = 'is not a cron pattern of five fields (minute, hour, day, month, weekday) such as 0 6 * * 1-5'
    throw invalid([{ path: `${path}/cron`, message }])
  }
  if (next === null) throw invalid([{ path: `${path}/cron`, message: 'never fires' }])
  return next
}

const findSchedule = (tx: Tx, workspaceId: string, workflowId: string): Promise<Schedule | undefined> =>
  tx.maybe<Schedule>(`select ${columns} from schedules where workspace_id = $1 and workflow_id = $2`, [
    workspaceId,
    workflowId,
  ])

export function makeSchedules(options: { onChanged(): void }) {
  const presentSchedule = (ctx: Context, { workflow_id }: ById): Promise<Schedule | undefined> =>
    findSchedule(ctx.tx, ctx.workspace.workspace_id, workflow_id)

  async function getSchedule(ctx: Context, { workflow_id }: ById): Promise<Schedule> {
    const schedule = await presentSchedule(ctx, { workflow_id })
    if (!schedule) throw problem('not_found', 'The workflow has no schedule.')
    return schedule
  }

  return {
    getSchedule,
    presentSchedule,

    async putSchedule(ctx: Context, { workflow_id, cron, timezone, input }: ById & SchedulePut): Promise<Schedule> {
      const next = await firstRun(ctx.tx, cron, timezone)
      const version = await findActiveVersion(ctx.tx, ctx.workspace.workspace_id, workflow_id)
      if (!version) throw problem('no_active_version', 'Publish a version of the workflow first.')
      const issues = validateJson(
        ((version.definition as { inputs?: Json }).inputs ?? true) as Json,
        (input ?? {}) as Json,
      )
      if (issues.length > 0) throw invalid(issues.map((issue) => ({ ...issue, path: `/input${issue.path}` })))
      const schedule = await ctx.tx.row<Schedule>(
        `insert into schedules (workspace_id, workflow_id, cron, timezone, input, next_run_at, created_by)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (workspace_id, workflow_id) do update set cron = excluded.cron, timezone = excluded.timezone, input = excluded.input,
           next_run_at = excluded.next_run_at, created_by = excluded.created_by, updated_at = now(), last_error = null
         returning ${columns}`,
        [ctx.workspace.workspace_id, workflow_id, cron, timezone, input ?? {}, next, ctx.person.user_id],
      )
      ctx.afterCommit(options.onChanged)
      return schedule
    },

    async deleteSchedule(ctx: Context, { workflow_id }: ById): Promise<void> {
      const gone = await ctx.tx.count('delete from schedules where workspace_id = $1 and workflow_id = $2', [
        ctx.workspace.workspace_id,
        workflow_id,
      ])
      if (gone === 0) throw problem('not_found', 'The workflow has no schedule.')
    },
  }
}
