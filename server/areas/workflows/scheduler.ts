import { ACTIVATION_REQUIRED, type Quota, reasonAgainst } from '#areas/executions/start'
import { enqueue } from '#engine/enqueue'
import type { Json } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { type Plans, replanAfterPutBack } from './replan.ts'
import { nextRun } from './schedules.ts'

// Starts what is due. The start and the step to the next time are one transaction, so that a schedule neither fires
// twice nor is forgotten, however many servers run this. Times missed while nobody ran are made up for once.

const LOOK_AT_LEAST_EVERY = 5 * SECOND
const AT_ONCE = 100

const PLANS: Plans = {
  name: 'schedules',
  list: 'select * from planned_schedules($1, $2, $3)',
  move: 'update schedules set next_run_at = $4 where workspace_id = $1 and workflow_id = $2 and next_run_at = $3',
}

type Due = { workspace_id: string; workflow_id: string }
type Row = {
  cron: string
  timezone: string
  input: Json
  version_id: string | null
  inputs: Json | null
  settings: { timeout_s?: number; max_concurrency?: number }
  activation_required: boolean
  principal_id: string
  created_by: string | null
  now: Date
}

export function makeScheduler(options: { db: Database; log: Logger; quota: Quota }) {
  const { db, log, quota } = options
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<void> = Promise.resolve()

  async function fire({ workspace_id, workflow_id }: Due): Promise<void> {
    const executionId = newId()
    const refusal = await reasonAgainst(quota, workspace_id)
    let started = false
    try {
      started = await startAndStep({ workspace_id, workflow_id }, executionId, refusal)
    } finally {
      if (!started && refusal === null) quota.giveBack(workspace_id)
    }
  }

  const startAndStep = ({ workspace_id, workflow_id }: Due, executionId: string, refusal: string | null) =>
    db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
      const row = await tx.maybe<Row>(
        `select s.cron, s.timezone, s.input, v.version_id, v.definition -> 'inputs' as inputs, w.settings, now() as now,
           w.activation_required, coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id, s.created_by
         from schedules s join workflows w on w.workspace_id = s.workspace_id and w.workflow_id = s.workflow_id
         left join workflow_versions v on v.workspace_id = s.workspace_id and v.workflow_id = s.workflow_id and v.active
         where s.workspace_id = $1 and s.workflow_id = $2 and s.next_run_at <= now() for update of s skip locked`,
        [workspace_id, workflow_id],
      )
      if (!row) return false
      const error = refusal ?? reasonNotToStart(row)
      if (error === null) {
        const outcome = await enqueue(tx, {
          workspaceId: workspace_id,
          executionId,
          input: row.input ?? {},
          definitionRef: `version:${row.version_id}`,
          workflowId: workflow_id,
          versionId: row.version_id,
          timeoutS: row.settings.timeout_s ?? null,
          maxConcurrency: row.settings.max_concurrency ?? null,
          trigger: { kind: 'schedule', id: null },
          startedBy: null,
          principalId: row.principal_id,
          initiatedBy: [{ kind: 'schedule', id: null, user_id: row.created_by }],
        })
        // A full queue: put off, so that it neither spins nor keeps the schedules of others from being looked at.
        if (outcome !== 'accepted') {
          await putOff(tx, workspace_id, workflow_id)
          return false
        }
      }
      await tx.count(
        `update schedules set next_run_at = $3, last_run_at = now(), last_execution_id = coalesce($4, last_execution_id), last_error = $5
         where workspace_id = $1 and workflow_id = $2`,
        [
          workspace_id,
          workflow_id,
          nextRun(row.cron, row.timezone, row.now),
          error === null ? executionId : null,
          error,
        ],
      )
      return error === null
    })

  async function look(): Promise<void> {
    await replanAfterPutBack(db, log, PLANS)
    const { rows } = await db.appPool.query<Due>('select * from due_schedules($1)', [AT_ONCE])
    for (const due of rows) {
      await fire(due).catch(async (error: unknown) => {
        log.error({ err: error, workflow_id: due.workflow_id }, 'a schedule could not be started')
        const scope = { workspaceId: due.workspace_id, userId: null }
        await db.tenant(scope, (tx) => putOff(tx, due.workspace_id, due.workflow_id)).catch(() => {})
      })
    }
    const { rows: next } = await db.appPool.query<{ in_ms: number | null }>(
      'select (extract(epoch from next_schedule_at() - now()) * 1000)::float8 as in_ms',
    )
    const wait =
      rows.length === AT_ONCE ? 0 : Math.min(LOOK_AT_LEAST_EVERY, Math.max(50, next[0]?.in_ms ?? LOOK_AT_LEAST_EVERY))
    if (!stopped) timer = setTimeout(wake, wait)
  }

  function wake(): void {
    clearTimeout(timer)
    running = running.then(look).catch((error: unknown) => {
      log.warn({ err: error }, 'schedules could not be read')
      if (!stopped) timer = setTimeout(wake, SECOND)
    })
  }

  return {
    start: wake,
    /** A schedule was changed here: look now instead of at the next turn. */
    wake,
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

const putOff = (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  tx.count(
    `update schedules set next_run_at = now() + interval '10 seconds' where workspace_id = $1 and workflow_id = $2 and next_run_at <= now()`,
    [workspaceId, workflowId],
  )

function reasonNotToStart(row: Row): string | null {
  if (row.activation_required) return ACTIVATION_REQUIRED
  if (row.version_id === null) return 'The workflow has no active version.'
  const [issue] = validateJson(row.inputs ?? true, row.input ?? {})
  return issue ? `The input no longer fits the workflow: ${issue.path} ${issue.message}` : null
}
