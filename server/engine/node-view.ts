import type { ExecutionError, Json, JsonObject, NodeStatus } from '#model/definition'
import type { BlobRef } from './blob-ref.ts'

// The view of one node of an execution.

export type AttemptView = {
  attempt: number
  status: 'running' | 'waiting' | 'succeeded' | 'failed'
  started_at: string | null
  finished_at: string | null
  output?: Json
  blob?: BlobRef
  error?: ExecutionError
  next_attempt_at?: string
  usage?: Json
}

export type ItemView = {
  index: number
  status: 'running' | 'waiting' | 'succeeded' | 'failed'
  output: Json
  collected?: Json
  error: ExecutionError | null
  usage: Json
}

export type OneNodeView = {
  node_id: string
  type: string
  status: NodeStatus
  input: JsonObject | null
  /** The reason why `input` is absent. */
  input_error: string | null
  attempts: AttemptView[]
  /** For a map or loop: the results of its items or iterations after `after`. */
  items: ItemView[]
  /** For a map or loop: its body for one item or iteration, if it was requested and is still stored. */
  body: { index: number; last: number; nodes: BodyNodeView[] } | null
}

export type BodyNodeView = {
  node_id: string
  status: NodeStatus
  attempt: number
  started_at: string | null
  finished_at: string | null
  error?: ExecutionError
  port?: string
}

export type ReadNode = (
  at: { workspaceId: string; executionId: string; path: string },
  page: { after: number; limit: number; item?: number },
) => Promise<OneNodeView | undefined>
