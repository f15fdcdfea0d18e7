import type { Definition, Graph } from '#model/definition'
import { problem } from '#platform/errors'
import { downstream } from './interpreter/graph.ts'
import { emptyState, type GraphState, isSettled, type NodeState } from './interpreter/state.ts'

/**
 * Returns what a retry keeps: the settled results of nodes that the new definition still has with the same type,
 * except the restart point and everything after it. With `failed`, every node that failed or had not settled is a
 * restart point.
 */
export const seedFor = (
  old: { definition: Definition; state: GraphState },
  next: Graph,
  from: 'start' | 'failed' | (string & {}),
): GraphState => {
  const { vars } = old.state
  const seed: GraphState = { ...emptyState(), ...(vars && { vars }) }
  if (from === 'start') return seed
  const types = new Map(old.definition.nodes.map((node) => [node.id, node.type]))
  if (from !== 'failed' && !next.nodes.some((node) => node.id === from)) {
    throw problem(
      'not_retryable',
      'The definition has no node with that id. Choose another node, or retry from the start.',
    )
  }
  const kept = (id: string): NodeState | undefined => {
    const node = old.state.nodes[id]
    const unhandled = node?.status === 'failed' && node.port === undefined && node.output === undefined
    return isSettled(node) && !unhandled ? node : undefined
  }
  const restarts = from === 'failed' ? next.nodes.map((node) => node.id).filter((id) => !kept(id)) : [from]
  const redone = new Set(restarts.flatMap((id) => [...downstream(next, id)]))
  for (const { id, type, finally: isLast } of next.nodes) {
    const node = kept(id)
    if (!node || isLast || redone.has(id) || types.get(id) !== type) continue
    const { wait: _wait, steps: _steps, map: _map, loop: _loop, expires: _expires, ...rest } = node
    seed.nodes[id] = { ...rest, ready: 0, settled: 0 }
  }
  return seed
}
