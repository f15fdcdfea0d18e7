import { type Moment, momentOf } from '#model/cel-runtime'
import type { Edge, Json, JsonObject } from '#model/definition'
import { evaluateCondition, type Scope } from '#model/expressions'
import type { Context, EdgeState } from './context.ts'
import { portOf } from './graph.ts'
import { decide, isUsedUp, type Pass } from './pass.ts'
import { type GraphState, isSettled, type NodeState } from './state.ts'

/** Returns the values that expressions see at `position` of the journal: everything up to it, and nothing after it. */
export const scopeAt = (context: Context, state: GraphState, position: number, moment?: Moment): Scope => {
  const nodes: Record<string, { output: Json }> = { ...context.outer }
  for (const [id, node] of Object.entries(state.nodes)) {
    if (node.settled !== undefined && node.settled <= position) nodes[id] = { output: node.output ?? null }
  }
  return {
    input: context.input,
    nodes,
    execution: executionAt(context, state, position),
    vars: context.vars ?? {},
    ...(moment && { moment }),
    ...(context.callbacks && { callbacks: context.callbacks }),
    ...(context.index !== undefined && { item: context.item ?? null, index: context.index }),
    ...(context.loop && { state: context.loop.state, turn: context.loop.turn }),
  }
}

/** Adds the status and error with which the execution ends, for `finally` nodes. */
const executionAt = ({ execution }: Context, { ending }: GraphState, position: number): JsonObject =>
  ending && position >= ending.seq ? { ...execution, status: ending.status, error: ending.error ?? null } : execution

/**
 * Decides an edge when its source has settled: first by the port that the source left by, then by the condition.
 * `later`: the allowance is used up before the condition is evaluated.
 */
export const edgeState = (pass: Pass, edge: Edge): EdgeState | 'later' => {
  const source = pass.state.nodes[edge.from.node]
  if (!isSettled(source) || source === undefined) return 'open'
  if (source.status === 'skipped' || (source.port ?? 'out') !== portOf(edge)) return 'dead'
  const { when } = edge
  if (!when) return 'taken'
  const known = pass.edges.get(edge)
  if (known) return known
  if (isUsedUp(pass)) return 'later'
  const decided = conditionOf(pass, edge, when.$cel, source)
  pass.edges.set(edge, decided)
  return decided
}

/**
 * The condition is evaluated in every pass until the target is ready. `now()` is the time when the source settled, so
 * the result is always the same.
 */
const conditionOf = (pass: Pass, { from, to }: Edge, cel: string, source: NodeState): EdgeState => {
  try {
    const moment = momentOf(source.finished_at ?? pass.at, `${pass.context.seed}:${from.node}>${to}`)
    const scope = scopeAt(pass.context, pass.state, source.settled ?? 0, moment)
    return decide(pass, (budget) => evaluateCondition(cel, scope, budget)) ? 'taken' : 'dead'
  } catch (error) {
    return { failed: error }
  }
}

export type Readiness = 'not yet' | 'ready' | 'skip' | 'later' | { failed: unknown }

/**
 * `all` (the default) waits until every incoming edge is decided, `any` continues with the first edge that is taken.
 * In both cases a node is skipped if none of its edges was taken, so a join after a branch runs once for every
 * choice.
 */
export const readiness = (pass: Pass, id: string): Readiness => {
  const incoming = pass.compiled.incoming.get(id) ?? []
  if (incoming.length === 0) return 'ready'
  let open = 0
  let taken = 0
  for (const edge of incoming) {
    const decided = edgeState(pass, edge)
    if (typeof decided === 'object' || decided === 'later') return decided
    if (decided === 'open') open += 1
    if (decided === 'taken') taken += 1
  }
  if (pass.compiled.nodes.get(id)?.join === 'any' && taken > 0) return 'ready'
  if (open > 0) return 'not yet'
  return taken > 0 ? 'ready' : 'skip'
}
