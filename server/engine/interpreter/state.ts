import type { ExecutionError, ExecutionStatus, Json, JsonObject, NodeStatus } from '#model/definition'
import type { BlobRef, ExecutionEventType } from '../ports.ts'

// The state is plain JSON, so a snapshot is `JSON.stringify(state)`. Times are milliseconds of the database clock.

/** A request that is opened outside the engine and answered there: a gate, a question, or the wait for an event. */
export type RequestKind = 'approval' | 'clarification' | 'event'

/** What an active node waits for while no worker runs it. */
export type Wait =
  | { kind: 'timer'; until: number }
  | { kind: 'retry'; until: number }
  /** The pause of a loop before its next iteration. The status of the node remains running. */
  | { kind: 'delay'; until: number }
  /** `until`: when the request must be checked. `due`: when it is due, if that is later. */
  | { kind: RequestKind; data: JsonObject; until: number | null; due?: number }
  /**
   * `child`: set for a suspended node, which may start several executions. The child of a sub-workflow is derived
   * from its attempt.
   */
  | { kind: 'execution'; child?: string }

/** The progress of a map. Item rows contain the rest. `done`: the settled ranges [from, to), sorted and merged. */
export type MapProgress = { total: number; done: [from: number, to: number][] }

/**
 * The progress of a loop. Rows contain the results of its iterations (`turns`). A delay is journalled with the number
 * of iterations before it.
 */
export type LoopProgress = { turns: number }

export type NodeState = {
  status: NodeStatus
  attempt: number
  /**
   * The journal position at which the node became ready. On every attempt, its arguments see only nodes that had
   * settled by then.
   */
  ready: number
  /** The journal position at which the node settled. */
  settled?: number
  /** The port that the node left by. Absent means `out`. */
  port?: string
  output?: Json
  /** The location of an output over 32 KiB. In memory `output` is also set; in snapshots and events it is not. */
  blob?: BlobRef
  error?: ExecutionError
  started_at?: number
  finished_at?: number
  wait?: Wait
  /** When the node times out. Only for nodes that wait instead of running. */
  expires?: number
  map?: MapProgress
  loop?: LoopProgress
  /** The results of journalled steps of this attempt and of earlier attempts. */
  steps?: Record<string, Json>
  /** Gates and executions that ended while the node was still running, before it waited for them. */
  over?: string[]
}

/**
 * How an execution ends after its `finally` nodes. The end was announced at `at`, with event number `seq`. `until`:
 * the time limit of the `finally` nodes.
 */
export type Ending = {
  status: 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
  seq: number
  at: number
  /** The data of the final event. */
  data: JsonObject
  error?: ExecutionError
  until?: number
}

export type GraphStatus = Exclude<ExecutionStatus, 'queued' | 'waiting'>

export type GraphState = {
  /** The number of the last event that was applied. */
  seq: number
  status: GraphStatus
  /** The execution was parked and has not been resumed since. */
  parked?: boolean
  nodes: Record<string, NodeState>
  /** The workspace variables that the definition reads, as of the start of the execution. */
  vars?: JsonObject
  results?: Json
  error?: ExecutionError
  /** The failure is permanent: the same execution would fail in the same way. */
  permanent?: true
  ending?: Ending
}

/** A journal event before it has a row. Users and sockets see `data`. */
export type JournalEvent = { type: ExecutionEventType; at: number; data: JsonObject }

export const emptyState = (): GraphState => ({ seq: 0, status: 'running', nodes: {} })

export const isSettled = (node: NodeState | undefined): boolean =>
  node !== undefined && (node.status === 'succeeded' || node.status === 'failed' || node.status === 'skipped')

export const hasEnded = (state: GraphState): boolean => state.status !== 'running'

const isActive = (node: NodeState): boolean => node.status === 'running' || node.status === 'waiting'

export const activeNodes = (state: GraphState): [id: string, node: NodeState][] =>
  Object.entries(state.nodes).filter(([, node]) => isActive(node))

// Called after every step of every execution, so it creates no lists.
export const hasActive = (state: GraphState): boolean => {
  for (const id in state.nodes) if (isActive(state.nodes[id] as NodeState)) return true
  return false
}

/** Checks whether no node is running: the execution continues only when time passes or a message arrives. */
export const onlyWaits = (state: GraphState): boolean =>
  !hasEnded(state) && activeNodes(state).every(([, node]) => node.status === 'waiting')

/**
 * Returns the next time at which something changes without a message, or null. `isBeingSettled`: checks whether the
 * request of a node is being checked because it is due, so that only a message follows.
 */
export const nextDue = (state: GraphState, isBeingSettled?: (id: string) => boolean): number | null => {
  let due = state.ending?.until ?? Number.POSITIVE_INFINITY
  for (const id in state.nodes) {
    const node = state.nodes[id] as NodeState
    if (!isActive(node)) continue
    if (node.expires !== undefined) due = Math.min(due, node.expires)
    const wait = node.wait
    if (!wait || wait.kind === 'execution' || wait.until === null) continue
    if (!('data' in wait && isBeingSettled?.(id))) due = Math.min(due, wait.until)
  }
  return Number.isFinite(due) ? due : null
}
