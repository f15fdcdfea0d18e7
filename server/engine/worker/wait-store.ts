import type { ExecutionError, Json } from '#model/definition'
import type { Database } from '#platform/db/pool'
import type { BlobRef, EndedExecution, Signal } from '../ports.ts'
import type { PlatformWait } from './platform-retry.ts'
import { runStatement } from './run-statement.ts'

// The statements for the waits of executions, and for messages to them.

/**
 * The result of comparing the waits of an execution with what they name. The status is null if the execution no
 * longer exists.
 */
export type CheckedWait = {
  workspace_id: string
  execution_id: string
  status: string | null
  /** The end was reported to everything that must know of it. */
  is_told: boolean | null
  faults: { node_path: string; is_left: boolean; why: string }[]
}

/**
 * Whether the last event of a failed execution calls the failure permanent. Only for an execution with a parent. No
 * other event is examined: older releases could write text in which `->>` finds no field, but fails.
 */
export const IS_PERMANENT = `case when status = 'failed' and parent_execution_id is not null then (
    select (u.data ->> 'permanent')::boolean
    from (select * from events v where v.execution_id = executions.execution_id order by v.seq desc limit 1) v,
      unpacked(v.seq, v.at, v.type, v.data) u
    where u.type = 'execution.failed') end as permanent`

/**
 * Calls the function only if a check is due: the first call on each connection takes 40 ms to plan, and another
 * connection is used each time.
 */
const CHECK_WAITS = `select w.* from (select $1::integer as most where exists (select from wait_checks where check_at <= now())) due,
  lateral engine.check_waits(due.most) w`

export const waitStatements = (db: Pick<Database, 'enginePool'>) => {
  const query = <Row>(name: string, text: string, values: unknown[]) =>
    runStatement<Row>(db.enginePool, name, text, values)
  return {
    /** Returns a portion of the executions whose waits must be compared with what they name. */
    checkWaits: (limit: number) => query<CheckedWait>('check-waits', CHECK_WAITS, [limit]),
    waitsAreRight: async (waits: Pick<CheckedWait, 'workspace_id' | 'execution_id'>[]): Promise<void> => {
      if (waits.length === 0) return
      const ids = [waits.map(({ workspace_id }) => workspace_id), waits.map(({ execution_id }) => execution_id)]
      await query('waits-right', 'select engine.waits_are_right($1, $2)', ids)
    },
    /** Lets the end of the execution be reported once more. */
    tellAgain: (workspaceId: string, executionId: string) =>
      query(
        'tell-again',
        'update executions set tell_end = true where workspace_id = $1 and execution_id = $2 and finished_at is not null',
        [workspaceId, executionId],
      ),
    releaseOrphans: async (): Promise<number> =>
      (await query<{ n: number }>('orphans', 'select engine.release_orphans() as n', []))[0]?.n ?? 0,
    /** Stores the wait of a running execution for the end of a platform fault, so that users can see it. */
    notePlatformWait: (wait: PlatformWait) =>
      query(
        'note-platform',
        `insert into platform_waits (workspace_id, execution_id, node_path, epoch, since, until, error)
         values ($1, $2, $3, $4, to_timestamp($5 / 1000.0), to_timestamp($6 / 1000.0), $7)
         on conflict (workspace_id, execution_id, node_path) do update set epoch = excluded.epoch, since = excluded.since,
           until = excluded.until, error = excluded.error`,
        [wait.workspaceId, wait.executionId, wait.nodePath, wait.epoch, wait.since, wait.until, wait.error],
      ),
    forgetPlatformWait: (wait: Pick<PlatformWait, 'workspaceId' | 'executionId' | 'nodePath'>) =>
      query(
        'forget-platform',
        'delete from platform_waits where workspace_id = $1 and execution_id = $2 and node_path = $3',
        [wait.workspaceId, wait.executionId, wait.nodePath],
      ),
    /** Deletes waits of workers that are gone. The worker that continues an execution writes its own. */
    forgetOldPlatformWaits: () =>
      query('forget-platforms', `delete from platform_waits where until < now() - interval '10 minutes'`, []),
    findChild: async (workspaceId: string, executionId: string) =>
      (
        await query<{
          status: EndedExecution['status'] | 'queued' | 'running' | 'waiting'
          results: Json
          results_blob: BlobRef | null
          error: ExecutionError | null
          permanent: boolean | null
        }>(
          'child',
          `select status, results, results_blob, error, ${IS_PERMANENT} from executions where workspace_id = $1 and execution_id = $2`,
          [workspaceId, executionId],
        )
      )[0],
    /** Returns the live children of an execution whose nodes have paths that start with `path`. */
    childrenUnder: async (workspaceId: string, executionId: string, path: string): Promise<string[]> =>
      (
        await query<{ execution_id: string }>(
          'children-under',
          `select execution_id from executions where workspace_id = $1 and parent_execution_id = $2
             and status in ('queued', 'running', 'waiting') and starts_with(parent_node, $3)`,
          [workspaceId, executionId, path],
        )
      ).map(({ execution_id }) => execution_id),
    signal: async (workspaceId: string, executionId: string, key: string, payload: Signal): Promise<string> =>
      (
        await query<{ outcome: string }>('signal', 'select engine.signal($1, $2, $3, $4::json) as outcome', [
          workspaceId,
          executionId,
          key,
          JSON.stringify(payload),
        ])
      )[0]?.outcome ?? 'unknown',
  }
}
