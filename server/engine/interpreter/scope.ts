import { type Moment, momentOf } from '#model/cel-runtime'
import type { Edge, Json, JsonObject } from '#model/definition'
import { evaluateCondition, type Scope } from '#model/expressions'
import type { Context, EdgeState } from './context.ts'
import { portOf } from './graph.ts'
import { decide, isSpent, type Pass } from './pass.ts'
import { type GraphState, isSettled, type NodeState } from './state.ts'

/** What expressions see when everything up to `position` of the journal has happened, and nothing after it. */
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

/** A `finally` node is told how the run ended. */
const executionAt = ({ execution }: Context, { ending }: GraphState, position: number): JsonObject =>
  ending && position >= ending.seq ? { ...execution, status: ending.status, error: ending.error ?? null } : execution

/**
 * An edge is decided when its source has settled: by the port it left through, then by the condition. `later`: others have
 * their turn before the condition is looked at.
 */
export const edgeState = (pass: Pass, edge: Edge): EdgeState | 'later' => {
  const source = pass.state.nodes[edge.from.node]
  if (!isSettled(source) || source === undefined) return 'open'
  if (source.status === 'skipped' || (source.port ?? 'out') !== portOf(edge)) return 'dead'
  const { when } = edge
  if (!when) return 'taken'
  const known = pass.edges.get(edge)
  if (known) return known
  if (isSpent(pass)) return 'later'
  const decided = conditionOf(pass, edge, when.$cel, source)
  pass.edges.set(edge, decided)
  return decided
}

/** Looked at again in every pass until its target is ready: `now()` is when the source settled, so that it always says the same. */
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
 * `all` (the default) waits until every incoming edge is decided, `any` goes on with the first one taken. Either way a
 * node none of whose edges was taken is skipped; so a join after a branch runs once whichever way was chosen.
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
