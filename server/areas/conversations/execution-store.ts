import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { LockedThread } from './thread-store.ts'

// The executions that a conversation started.

export const insertExecution = (
  tx: Tx,
  thread: LockedThread,
  execution: { execution_id: string; workflow_id: string; title: string },
): Promise<number> =>
  tx.count(
    'insert into thread_executions (workspace_id, execution_id, thread_id, workflow_id, title, turn) values ($1, $2, $3, $4, $5, $6)',
    [
      thread.workspace_id,
      execution.execution_id,
      thread.thread_id,
      execution.workflow_id,
      execution.title,
      thread.turn,
    ],
  )

export type OwnExecution = { thread_id: string; execution_id: string; title: string }

/** Finds the conversation that started the execution or one of its ancestors. */
export const findAncestor = (tx: Tx, workspaceId: string, executionId: string): Promise<OwnExecution | undefined> =>
  tx.maybe<OwnExecution>(
    `with recursive up as (
       select execution_id, parent_execution_id, 0 as height from executions where workspace_id = $1 and execution_id = $2
       union all select e.execution_id, e.parent_execution_id, up.height + 1 from executions e
         join up on e.workspace_id = $1 and e.execution_id = up.parent_execution_id where up.height < 32)
     select t.thread_id, t.execution_id, t.title from up join thread_executions t on t.workspace_id = $1 and t.execution_id = up.execution_id
     order by up.height limit 1`,
    [workspaceId, executionId],
  )

export type ExecutionState = {
  execution_id: string
  status: string
  waiting_for: { kind: string; title?: string }[]
  results: Json
  large: boolean
  error: { code: string; message: string } | null
}

export const readExecutionStates = (tx: Tx, workspaceId: string, executionIds: string[]): Promise<ExecutionState[]> =>
  tx.rows<ExecutionState>(
    'select execution_id, status, waiting_for, results, results_blob is not null as large, error from executions where workspace_id = $1 and execution_id = any ($2)',
    [workspaceId, executionIds],
  )
