import type { ExecutionError, ExecutionStatus, Json, JsonObject, NodeStatus } from '#model/definition'
import type { BlobRef } from './blob-ref.ts'
import type { Initiator } from './initiator.ts'
import type { TriggerKind } from './trigger-kind.ts'

// The views for readers of an execution.

export type WaitingFor = {
  kind: 'clarification' | 'approval' | 'event' | 'timer' | 'slot' | 'execution' | 'platform'
  node_id?: string
  since: string
  until?: string
  [more: string]: Json | undefined
}

export type NodeView = {
  node_id: string
  status: NodeStatus
  attempt: number
  started_at: string | null
  finished_at: string | null
  output?: Json
  /** Replaces `output` if the output is over 32 KiB. */
  blob?: BlobRef
  error?: ExecutionError
  /** The port that the node left by. Absent means `out`, or that the node has not ended. */
  port?: string
}

/** The usage of language models by a node. For a map or loop, it includes everything inside. */
export type NodeUsage = {
  /** Null if a call was made for the execution and not by a node, such as an agent's vote on a gate. */
  node_id: string | null
  input_tokens: number
  output_tokens: number
  /** Null if the cost of no call is known. */
  cost: number | null
  calls: number
  unpriced_calls: number
}

export type ExecutionView = {
  execution_id: string
  workspace_id: string
  workflow_id: string | null
  system_slug: string | null
  version_id: string | null
  status: ExecutionStatus
  /** Null if the input is larger than 1 MiB. Then `large_input` is set, and `readInput` returns the input. */
  input: Json
  large_input: { sha256: string; bytes: number } | null
  results: Json
  results_blob: BlobRef | null
  error: ExecutionError | null
  waiting_for: WaitingFor[]
  trigger: { kind: TriggerKind; id: string | null }
  started_by: string | null
  initiated_by: Initiator[]
  principal_id: string | null
  retry_of: string | null
  parent_execution_id: string | null
  priority: number
  tags: string[]
  metadata: JsonObject
  /** The scheduled time for which the execution was started. */
  scheduled_at: Date | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  nodes: NodeView[]
  usage: NodeUsage[]
  /** The last journal event that this view includes. A socket resumes after it. */
  seq: number
}

export type ExecutionEventType =
  | `execution.${'started' | 'waiting' | 'resumed' | 'ending' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out'}`
  | `node.${'started' | 'progress' | 'succeeded' | 'failed' | 'retrying' | 'skipped'}`
  | `approval.${'opened' | 'edited' | 'voted' | 'resolved'}`
  | `clarification.${'asked' | 'answered'}`
  | `event.${'awaited' | 'received'}`

export type ExecutionEvent = { seq: number; type: ExecutionEventType; at: Date; data: JsonObject }
