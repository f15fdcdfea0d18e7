import type { ExecutionError, ExecutionStatus, Json, NodeStatus } from '#model/definition'
import type { TriggerKind } from './trigger-kind.ts'

/** An execution whose end is durable, as its worker has it in memory. Times are milliseconds of the database clock. */
export type FinishedRun = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  trigger: { kind: TriggerKind; id: string | null }
  parentExecutionId: string | null
  /** The trace of the caller that started the execution. */
  traceparent: string | null
  input: Json
  results: Json
  status: ExecutionStatus
  error: ExecutionError | null
  createdAt: number
  /** When the first node started, or when the execution was created if no node started. */
  startedAt: number
  finishedAt: number
  /**
   * The nodes of the execution itself, without nodes inside a map or loop. `startedAt` is null if the node was
   * skipped, or was kept from the execution that is retried.
   */
  nodes: readonly {
    id: string
    type: string
    status: NodeStatus
    attempt: number
    startedAt: number | null
    finishedAt: number | null
    errorCode: string | null
  }[]
}
