import type { ExecutionError, ExecutionStatus, Json, JsonObject, NodeStatus } from '#model/definition'
import type { BlobRef } from './blob-ref.ts'
import type { Initiator } from './initiator.ts'
import type { TriggerKind } from './trigger-kind.ts'

// What readers of an execution are shown.

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
  /** Stands in for `output` when it is over 32 KiB. */
  blob?: BlobRef
  error?: ExecutionError
  /** The way out; absent means `out`, or that it is not over. */
  port?: string
}

/** What language models counted for a node; of a map or loop, for everything in it. */
export type NodeUsage = {
  /** Null: asked for the execution and not by a node, such as an agent's vote on a gate. */
  node_id: string | null
  input_tokens: number
  output_tokens: number
  /** Null where nobody knows it of any call. */
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
  /** Null where it is larger than 1 MiB: `large_input` says so, and `readInput` gives it. */
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
  /** The time of the schedule that it runs for. */
  scheduled_at: Date | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  nodes: NodeView[]
  usage: NodeUsage[]
  /** The last journal event this view includes: where a socket resumes. */
  seq: number
}

export type ExecutionEventType =
  | `execution.${'started' | 'waiting' | 'resumed' | 'ending' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out'}`
  | `node.${'started' | 'progress' | 'succeeded' | 'failed' | 'retrying' | 'skipped'}`
  | `approval.${'opened' | 'edited' | 'voted' | 'resolved'}`
  | `clarification.${'asked' | 'answered'}`
  | `event.${'awaited' | 'received'}`

export type ExecutionEvent = { seq: number; type: ExecutionEventType; at: Date; data: JsonObject }
