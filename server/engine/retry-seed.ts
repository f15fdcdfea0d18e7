import { bodyOf } from '#model/body'
import { canonicalText } from '#model/canonical'
import type { Definition, Graph, Node } from '#model/definition'
import { problem } from '#platform/errors'
import { downstream } from './interpreter/graph.ts'
import { emptyState, type GraphState, isSettled, type NodeState } from './interpreter/state.ts'

const asksForApproval = (node: Node): boolean => {
  const body = bodyOf(node) as unknown as Graph | undefined
  return node.type === 'approval' || (body?.nodes ?? []).some(asksForApproval)
}

const contentOf = ({ type, args, disabled }: Node): string =>
  canonicalText({ type, args: args ?? {}, disabled: disabled === true })

/**
 * Returns the approvals that people must give again, because the next definition could ask for something else: the
 * approval or a node before it has changed. People approve one payload under one policy, and no other.
 */
function outdatedApprovals(old: Graph, next: Graph): string[] {
  const before = new Map(old.nodes.map((node) => [node.id, contentOf(node)]))
  const changed = next.nodes.filter((node) => before.get(node.id) !== contentOf(node))
  const after = new Set(changed.flatMap(({ id }) => [...downstream(next, id)]))
  return next.nodes.filter((node) => after.has(node.id) && asksForApproval(node)).map(({ id }) => id)
}

/**
 * Returns what a retry keeps: the settled results of nodes that the new definition still has with the same type,
 * except the restart points and everything after them. With `failed`, every node that failed or had not settled is a
 * restart point. Outdated approvals always are.
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
  const chosen = from === 'failed' ? next.nodes.map((node) => node.id).filter((id) => !kept(id)) : [from]
  const restarts = [...chosen, ...outdatedApprovals(old.definition, next)]
  const redone = new Set(restarts.flatMap((id) => [...downstream(next, id)]))
  for (const { id, type, finally: isLast } of next.nodes) {
    const node = kept(id)
    if (!node || isLast || redone.has(id) || types.get(id) !== type) continue
    const { wait: _wait, steps: _steps, map: _map, loop: _loop, expires: _expires, ...rest } = node
    seed.nodes[id] = { ...rest, ready: 0, settled: 0 }
  }
  return seed
}
