import type { ExecutionError, Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Blobs } from '#providers/blobs/index'
import type { AreaCalls } from './area-calls.ts'
import { initiatorsOfRow } from './initiators.ts'
import { nudge } from './nudges.ts'
import { readBlob } from './outputs.ts'
import type { ChildEnd, EndedExecution, EnginePorts, Initiator, TriggerKind } from './ports.ts'
import type { Store } from './worker/store.ts'
import { IS_PERMANENT } from './worker/wait-store.ts'

// Reports the end of an execution to the waiting parent, to children that need not continue, and to the areas. The
// row carries this duty (`tell_end`) from the statement that ended the execution until all of them got the report, so a
// crash only delays the report.

type Row = {
  workspace_id: string
  execution_id: string
  workflow_id: string | null
  version_id: string | null
  system_slug: string | null
  status: EndedExecution['status']
  results: Json
  results_blob: { key: string; sha256: string; bytes: number } | null
  error: ExecutionError | null
  permanent: boolean | null
  trigger_kind: TriggerKind
  trigger_id: string | null
  started_by: string | null
  initiated_by: Initiator[] | null
  principal_id: string | null
  finished_at: Date
  parent_execution_id: string | null
  parent_node: string | null
}

const PORTION = 100
const AGAIN_AFTER = 5 * SECOND

const TAKE = `select workspace_id, execution_id, workflow_id, version_id, system_slug, status, results, results_blob,
    error, ${IS_PERMANENT}, trigger_kind, trigger_id, started_by, initiated_by, principal_id, finished_at, parent_execution_id, parent_node
  from executions where tell_end and finished_at is not null and execution_id <> all ($1::uuid[])
  order by finished_at limit ${PORTION}`

// The waits of parents that got the report are checked once more: by then the parents no longer wait for the child.
const DONE = `with reported as (
    update executions set tell_end = false where tell_end and (workspace_id, execution_id) in (
      select * from unnest($1::uuid[], $2::uuid[])) returning workspace_id, parent_execution_id)
  insert into wait_checks (workspace_id, execution_id)
  select distinct workspace_id, parent_execution_id from reported where parent_execution_id is not null
  on conflict (workspace_id, execution_id) do update set noted_at = excluded.noted_at,
    check_at = least(wait_checks.check_at, excluded.check_at)`

const CHILDREN = `select execution_id from executions
  where workspace_id = $1 and parent_execution_id = $2 and status in ('queued', 'running', 'waiting')`

/** Returns the message about the end of a child, for its parent. */
export const childEnd = async (
  blobs: Blobs,
  child: Pick<Row, 'status' | 'results' | 'results_blob' | 'error' | 'permanent'>,
): Promise<ChildEnd> => {
  const { status, error } = child
  if (status !== 'succeeded')
    return {
      results: child.results,
      error: error ?? { code: status, message: `the sub-workflow was ${status.replace('_', ' ')}` },
      ...(child.permanent && { isPermanent: true }),
    }
  return { results: child.results_blob ? await readBlob(blobs, child.results_blob) : child.results, error: null }
}

export const makeEndReports = (deps: {
  db: Database
  store: Store
  ports: EnginePorts
  areaCalls: AreaCalls
  log: Logger
}) => {
  const { db, store, ports, log } = deps
  let reporting: Promise<void> | undefined
  let again = false
  let retry: NodeJS.Timeout | undefined
  let stopped = false
  /** Ends that could not be reported, and when to try again. They do not block the report of other ends. */
  const later = new Map<string, number>()

  const reportToFamily = async (row: Row): Promise<void> => {
    if (row.parent_execution_id && row.parent_node) {
      await store.signal(row.workspace_id, row.parent_execution_id, `child:${row.execution_id}`, {
        type: 'child.ended',
        nodePath: row.parent_node,
        childId: row.execution_id,
        ...(await childEnd(ports.blobs, row)),
      })
      nudge(db, row.parent_execution_id)
    }
    if (row.status === 'succeeded') return
    const children = await db.engine((tx) =>
      tx.rows<{ execution_id: string }>(CHILDREN, [row.workspace_id, row.execution_id]),
    )
    for (const { execution_id } of children) {
      await store.signal(row.workspace_id, execution_id, 'cancel', {
        type: 'cancel',
        by: null,
        reason: 'the parent ended',
      })
      nudge(db, execution_id)
    }
  }

  const reportOne = async (row: Row): Promise<boolean> => {
    try {
      await reportToFamily(row)
      const ended = {
        workspaceId: row.workspace_id,
        executionId: row.execution_id,
        workflowId: row.workflow_id,
        versionId: row.version_id,
        systemSlug: row.system_slug,
        status: row.status,
        results: row.results,
        error: row.error,
        trigger: { kind: row.trigger_kind, id: row.trigger_id },
        startedBy: row.started_by,
        initiatedBy: initiatorsOfRow(row),
        principalId: row.principal_id,
        finishedAt: row.finished_at,
      }
      await deps.areaCalls(row.workspace_id, () => ports.ended(ended))
      return true
    } catch (error) {
      log.warn({ err: error, execution_id: row.execution_id }, 'the end of an execution could not be reported yet')
      return false
    }
  }

  /** Takes no lock, because a receiver may itself read the row. Two processes may therefore report the same end. */
  const reportSome = async (): Promise<{ found: number; reported: number }> => {
    const now = performance.now()
    for (const [id, at] of later) if (at <= now) later.delete(id)
    const rows = await db.engine((tx) => tx.rows<Row>(TAKE, [[...later.keys()]]))
    const reported: Row[] = []
    await Promise.all(
      rows.map(async (row) => {
        if (await reportOne(row)) reported.push(row)
        else later.set(row.execution_id, now + AGAIN_AFTER)
      }),
    )
    if (reported.length > 0) {
      const ids = [reported.map((row) => row.workspace_id), reported.map((row) => row.execution_id)]
      await db.engine((tx) => tx.count(DONE, ids))
    }
    return { found: rows.length, reported: reported.length }
  }

  const reportLater = (): void => {
    retry ??= setTimeout(() => {
      retry = undefined
      report()
    }, AGAIN_AFTER)
  }

  const report = (): void => {
    if (stopped) return
    if (reporting) {
      again = true
      return
    }
    reporting = (async () => {
      try {
        for (let more = true; more; ) {
          again = false
          const { found, reported } = await reportSome()
          more = found === PORTION || again
          if (found > reported) reportLater()
        }
      } catch (error) {
        log.warn({ err: error }, 'the ends of executions could not be reported yet')
      } finally {
        reporting = undefined
        if (again) report()
      }
    })()
  }

  return {
    report,
    stop: async (): Promise<void> => {
      stopped = true
      clearTimeout(retry)
      await reporting
    },
  }
}
