import type { ExecutionError, Json, JsonObject } from '#model/definition'
import type { BlobRef } from '../ports.ts'
import type {
  Ending,
  GraphState,
  JournalEvent,
  LoopProgress,
  MapProgress,
  NodeState,
  RequestKind,
  Wait,
} from './state.ts'

// The only place where a journal event changes the state. It is used for live events and for reading the journal
// back, so both give the same state.

const time = (value: Json | undefined): number | undefined =>
  typeof value === 'string' ? Date.parse(value) : undefined

const merged = (ranges: [number, number][], from: number, to: number): [number, number][] => {
  const result: [number, number][] = []
  for (const range of [...ranges, [from, to] as [number, number]].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1])
    else result.push([...range])
  }
  return result
}

const begun = (state: GraphState, old: NodeState | undefined, event: JournalEvent): NodeState => {
  const { data, at } = event
  const until = time(data.until)
  const expires = time(data.expires)
  const wait: Wait | undefined =
    until !== undefined ? { kind: 'timer', until } : data.child_execution === true ? { kind: 'execution' } : undefined
  const map: MapProgress | undefined = typeof data.total === 'number' ? { total: data.total, done: [] } : undefined
  const loop: LoopProgress | undefined = typeof data.turns === 'number' ? { turns: data.turns } : undefined
  return {
    status: wait ? 'waiting' : 'running',
    attempt: Number(data.attempt ?? 1),
    ready: old?.ready ?? state.seq,
    started_at: old?.started_at ?? at,
    ...(wait && { wait }),
    ...(expires !== undefined && { expires }),
    ...(map && { map }),
    ...(loop && { loop }),
    ...(old?.steps && { steps: old.steps }),
    ...(old?.over && { over: old.over }),
  }
}

const settled = (
  state: GraphState,
  old: NodeState | undefined,
  event: JournalEvent,
  rest: Partial<NodeState>,
): NodeState => ({
  status: 'succeeded',
  attempt: Number(event.data.attempt ?? 1),
  ready: old?.ready ?? state.seq,
  settled: state.seq,
  started_at: old?.started_at ?? event.at,
  finished_at: event.at,
  ...(typeof event.data.port === 'string' && { port: event.data.port }),
  ...(event.data.blob !== undefined && { blob: event.data.blob as unknown as BlobRef }),
  ...(event.data.output !== undefined && { output: event.data.output }),
  ...rest,
})

const applyToNode = (state: GraphState, id: string, event: JournalEvent): NodeState | undefined => {
  const old = state.nodes[id]
  const { data } = event
  switch (event.type) {
    case 'node.started':
      return begun(state, old, event)
    case 'node.succeeded':
      return settled(state, old, event, {})
    case 'node.failed':
      return settled(state, old, event, { status: 'failed', error: data.error as unknown as ExecutionError })
    case 'node.skipped':
      return settled(state, old, event, { status: 'skipped', attempt: 0 })
    case 'node.retrying': {
      // A node that failed before it started, for example because of an expression in its arguments, has no state
      // yet.
      const before = old ?? begun(state, undefined, event)
      const { map: _map, loop: _loop, expires: _expires, ...rest } = before
      const until = time(data.next_attempt_at) ?? event.at
      return { ...rest, status: 'waiting', wait: { kind: 'retry', until } }
    }
    case 'node.progress': {
      if (!old) return undefined
      if (typeof data.step === 'string') {
        return { ...old, steps: { ...old.steps, [data.step]: data.result ?? null } }
      }
      if (data.woken === true) {
        const { wait: _wait, ...rest } = old
        return { ...rest, status: 'running' }
      }
      if (typeof data.waits_for === 'string')
        return { ...old, status: 'waiting', wait: { kind: 'execution', child: data.waits_for } }
      if (typeof data.ended === 'string') return { ...old, over: [...(old.over ?? []), data.ended] }
      if (data.due_at !== undefined && old.wait && 'data' in old.wait) {
        const { due, ...wait } = old.wait
        const until = time(data.due_at) ?? null
        return { ...old, wait: { ...wait, until, ...(due !== undefined && until !== null && due > until && { due }) } }
      }
      if (old.map && typeof data.from === 'number' && typeof data.to === 'number') {
        return { ...old, map: { total: old.map.total, done: merged(old.map.done, data.from, data.to) } }
      }
      if (old.loop && typeof data.turns === 'number') {
        const { wait: _wait, ...rest } = old
        const until = time(data.until)
        return { ...rest, loop: { turns: data.turns }, ...(until !== undefined && { wait: { kind: 'delay', until } }) }
      }
      return undefined
    }
    case 'approval.opened':
    case 'clarification.asked':
    case 'event.awaited': {
      if (!old) return undefined
      const { node_id: _node, due_at, look_at, ...rest } = data
      const kind = event.type.slice(0, event.type.indexOf('.')) as RequestKind
      const due = look_at === undefined ? undefined : time(due_at)
      const wait = {
        kind,
        data: rest as JsonObject,
        until: time(look_at ?? due_at) ?? null,
        ...(due !== undefined && { due }),
      }
      return { ...old, status: 'waiting', wait }
    }
    case 'approval.edited':
    case 'approval.resolved':
      if (old?.status !== 'running' || typeof data.request_id !== 'string') return undefined
      return { ...old, over: [...(old.over ?? []), data.request_id] }
    default:
      return undefined
  }
}

const INTERRUPTED = { code: 'interrupted', message: 'the execution ended before this node did' }

/**
 * When an execution ends, nodes that were active have failed. Nodes that had not started have no state and count as
 * skipped.
 */
const closed = (state: GraphState, at: number): Record<string, NodeState> => {
  const nodes: Record<string, NodeState> = {}
  for (const [id, node] of Object.entries(state.nodes)) {
    if (node.status !== 'running' && node.status !== 'waiting') nodes[id] = node
    else {
      const { wait: _wait, expires: _expires, map: _map, loop: _loop, steps: _steps, over: _over, ...rest } = node
      const error = { ...INTERRUPTED, node_id: id, attempt: node.attempt }
      nodes[id] = { ...rest, status: 'failed', finished_at: at, error }
    }
  }
  return nodes
}

/** Changes `state` in place, but replaces its nodes. The caller owns the state and its `nodes` record. */
export const apply = (state: GraphState, event: JournalEvent): void => {
  state.seq += 1
  const { data } = event
  switch (event.type) {
    case 'execution.started':
      if (data.vars) state.vars = data.vars as JsonObject
      return
    case 'execution.waiting':
      state.parked = true
      return
    case 'execution.resumed':
      delete state.parked
      return
    case 'execution.ending': {
      const until = time(data.until)
      if (state.ending) {
        if (until !== undefined) state.ending = { ...state.ending, until }
        return
      }
      state.nodes = closed(state, event.at)
      const { status, ...rest } = data
      const error = rest.error as unknown as ExecutionError | undefined
      state.ending = {
        status: status as Ending['status'],
        seq: state.seq,
        at: event.at,
        data: rest,
        ...(error && { error }),
      }
      return
    }
    case 'execution.succeeded':
      state.status = 'succeeded'
      state.results = data.results ?? null
      return
    case 'execution.failed':
    case 'execution.cancelled':
    case 'execution.timed_out': {
      const status = event.type.slice('execution.'.length) as 'failed' | 'cancelled' | 'timed_out'
      state.nodes = closed(state, event.at)
      state.status = status
      if (data.error) state.error = data.error as unknown as ExecutionError
      if (data.permanent === true) state.permanent = true
      return
    }
  }
  // Events of a node inside a map contain its path. They are only shown to people; item rows contain the state.
  if (typeof data.node_id !== 'string' || data.in_map === true) return
  const next = applyToNode(state, data.node_id, event)
  // An execution that would have succeeded fails with the first `finally` node that fails.
  if (data.handled === 'finally' && state.ending && !state.ending.error)
    state.ending = { ...state.ending, error: data.error as unknown as ExecutionError }
  if (next) state.nodes[data.node_id] = next
}

export const replay = (state: GraphState, events: Iterable<JournalEvent>): GraphState => {
  const next = { ...state, nodes: { ...state.nodes } }
  for (const event of events) apply(next, event)
  return next
}
