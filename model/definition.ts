// The body of a workflow version: a graph that is data. Shared by the server and the browser.

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A literal, `{"$ref": path}` or `{"$cel": expression}`, at any depth of the JSON. A plain string is never code. */
export type Value = Json

export type RetryPolicy = {
  max_attempts: number
  backoff_s: number
  factor?: number
  max_backoff_s?: number
  /** The fraction by which each delay is randomly shortened or lengthened, from 0 to 1. */
  jitter?: number
  /** The error codes that cause a retry; without them, every error that the node does not mark as permanent. */
  on?: string[]
}
export type OnError = 'fail' | 'continue' | 'route'
export type Join = 'all' | 'any'

export type Node = {
  id: string
  type: string
  name?: string
  args?: JsonObject
  retry?: RetryPolicy
  timeout_s?: number
  on_error?: OnError
  join?: Join
  /** The node runs after all other nodes have ended, in any status. */
  finally?: boolean
  /** The node does nothing: its input becomes its output. */
  disabled?: boolean
}

export type Edge = {
  id?: string
  from: { node: string; port?: string }
  to: string
  when?: { $cel: string }
}

export type Graph = { nodes: Node[]; edges: Edge[]; output?: Value }

export type Definition = Graph & {
  inputs?: JsonObject
  layout?: JsonObject
}

export type ExecutionStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
export type NodeStatus = 'pending' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'skipped'

export type ExecutionError = {
  code: string
  message: string
  node_id?: string
  attempt?: number
  details?: Json
}
