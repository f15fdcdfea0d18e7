import type { ExecutionError, ExecutionStatus, Json, NodeStatus } from '#model/definition'
import type { TriggerKind } from './trigger-kind.ts'

/** A run that has ended and whose end is durable, as its worker holds it in memory. Times are milliseconds of the database's clock. */
export type FinishedRun = {
  workspaceId: string
  executionId: string
  workflowId: string | null
  versionId: string | null
  trigger: { kind: TriggerKind; id: string | null }
  parentExecutionId: string | null
  /** The trace of the caller that it belongs to. */
  traceparent: string | null
  input: Json
  results: Json
  status: ExecutionStatus
  error: ExecutionError | null
  createdAt: number
  /** When the first of its nodes began; when it was made, where none did. */
  startedAt: number
  finishedAt: number
  /** Its own nodes: what happened in a map or loop is not among them. `startedAt` null: it was skipped, or kept from the run that is retried. */
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
