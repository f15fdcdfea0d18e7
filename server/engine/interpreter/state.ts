import type { ExecutionError, ExecutionStatus, Json, JsonObject, NodeStatus } from '#model/definition'
import type { BlobRef, ExecutionEventType } from '../ports.ts'

// Plain JSON, so that a snapshot is `JSON.stringify(state)`. Times are milliseconds of the database's clock.

/** What is opened outside and answered by somebody else: a gate, a question, the wait for an event. */
export type Asking = 'approval' | 'clarification' | 'event'

/** What an active node waits for, when no code of ours is running for it. */
export type Wait =
  | { kind: 'timer'; until: number }
  | { kind: 'retry'; until: number }
  /** The pause of a loop before its next turn. The node is running all the while. */
  | { kind: 'delay'; until: number }
  /** `until`: when it is looked at again. `due`: when it is due, where that is later. */
  | { kind: Asking; data: JsonObject; until: number | null; due?: number }
  /** `child`: that of a suspended node, which may start several; the one of a sub-workflow follows from its attempt. */
  | { kind: 'execution'; child?: string }

/** How far a map has come: item rows hold the rest. `done` are settled ranges [from, to), in order, merged. */
export type MapProgress = { total: number; done: [from: number, to: number][] }

/** How far a loop has come: rows hold what its turns gave. A delay is journalled with the turns that were over before it. */
export type LoopProgress = { turns: number }

export type NodeState = {
  status: NodeStatus
  attempt: number
  /** The journal position at which it became ready: its arguments see only what had settled by then, on every attempt. */
  ready: number
  /** The journal position at which it settled. */
  settled?: number
  /** The way out; absent means `out`. */
  port?: string
  output?: Json
  /** Where an output over 32 KiB is kept; in memory `output` is filled in, in snapshots and events it is not. */
  blob?: BlobRef
  error?: ExecutionError
  started_at?: number
  finished_at?: number
  wait?: Wait
  /** When the node itself times out, for those that wait rather than run. */
  expires?: number
  map?: MapProgress
  loop?: LoopProgress
  /** Results of journalled steps of the present attempt's predecessors and its own. */
  steps?: Record<string, Json>
  /** Gates and executions that were over before the node, which was still running, waited for them. */
  over?: string[]
}

/** How a run ends once its `finally` nodes are over. It was announced at `at`, with the event `seq`. `until`: they have no more time. */
export type Ending = {
  status: 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
  seq: number
  at: number
  /** What the event of the end holds. */
  data: JsonObject
  error?: ExecutionError
  until?: number
}

export type GraphStatus = Exclude<ExecutionStatus, 'queued' | 'waiting'>

export type GraphState = {
  /** Number of the last event applied. */
  seq: number
  status: GraphStatus
  /** It was parked when this was true, and has not been resumed since. */
  parked?: boolean
  nodes: Record<string, NodeState>
  /** The variables of the workspace that the definition reads, as they were when the run began. */
  vars?: JsonObject
  results?: Json
  error?: ExecutionError
  /** It failed so that the same run would fail in the same way. */
  permanent?: true
  ending?: Ending
}

/** A journal event before it has a row. `data` is what people and sockets see. */
export type Fact = { type: ExecutionEventType; at: number; data: JsonObject }

export const emptyState = (): GraphState => ({ seq: 0, status: 'running', nodes: {} })

export const isSettled = (node: NodeState | undefined): boolean =>
  node !== undefined && (node.status === 'succeeded' || node.status === 'failed' || node.status === 'skipped')

export const hasEnded = (state: GraphState): boolean => state.status !== 'running'

const isActive = (node: NodeState): boolean => node.status === 'running' || node.status === 'waiting'

export const activeNodes = (state: GraphState): [id: string, node: NodeState][] =>
  Object.entries(state.nodes).filter(([, node]) => isActive(node))

// Asked after every step of every execution, hence without lists.
export const hasActive = (state: GraphState): boolean => {
  for (const id in state.nodes) if (isActive(state.nodes[id] as NodeState)) return true
  return false
}

/** Nothing of ours runs for it any more: it goes on only when time passes or somebody says something. */
export const onlyWaits = (state: GraphState): boolean =>
  !hasEnded(state) && activeNodes(state).every(([, node]) => node.status === 'waiting')

/** When time alone will next change something. */
export const nextDue = (state: GraphState): number | null => {
  let due = state.ending?.until ?? Number.POSITIVE_INFINITY
  for (const id in state.nodes) {
    const node = state.nodes[id] as NodeState
    if (!isActive(node)) continue
    if (node.expires !== undefined) due = Math.min(due, node.expires)
    const wait = node.wait
    if (wait && wait.kind !== 'execution' && wait.until !== null) due = Math.min(due, wait.until)
  }
  return Number.isFinite(due) ? due : null
}
