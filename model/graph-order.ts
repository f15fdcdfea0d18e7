import type { Graph } from './definition.ts'

export type Order = {
  /** The first cycle found: the edge that closes it and the nodes on it. */
  cycle: { edge: number; nodes: string[] } | undefined
  /** Returns the nodes that can have settled before this node starts. */
  before(id: string): ReadonlySet<string>
}

export function makeOrder(graph: Graph): Order {
  const into = new Map<string, string[]>(graph.nodes.map((node) => [node.id, []]))
  for (const edge of graph.edges) if (into.has(edge.from.node)) into.get(edge.to)?.push(edge.from.node)

  const ancestors = new Map<string, ReadonlySet<string>>()
  const before = (id: string): ReadonlySet<string> => {
    const known = ancestors.get(id)
    if (known) return known
    const found = new Set<string>()
    const open = [...(into.get(id) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue
      found.add(next)
      open.push(...(into.get(next) ?? []))
    }
    ancestors.set(id, found)
    return found
  }
  return { cycle: findCycle(graph), before }
}

/** Searches depth first with an explicit stack: 500 nodes in a row must not depend on the size of the call stack. */
function findCycle(graph: Graph): Order['cycle'] {
  const out = new Map<string, { to: string; edge: number }[]>(graph.nodes.map((node) => [node.id, []]))
  for (const [index, edge] of graph.edges.entries()) {
    if (out.has(edge.to)) out.get(edge.from.node)?.push({ to: edge.to, edge: index })
  }
  const state = new Map<string, 'open' | 'done'>()
  for (const start of graph.nodes) {
    if (state.has(start.id)) continue
    const stack = [{ id: start.id, next: 0 }]
    state.set(start.id, 'open')
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as { id: string; next: number }
      const step = out.get(top.id)?.[top.next]
      top.next += 1
      if (!step) {
        state.set(top.id, 'done')
        stack.pop()
      } else if (state.get(step.to) === 'open') {
        const ids = stack.map((entry) => entry.id)
        return { edge: step.edge, nodes: [...ids.slice(ids.indexOf(step.to)), step.to] }
      } else if (!state.has(step.to)) {
        state.set(step.to, 'open')
        stack.push({ id: step.to, next: 0 })
      }
    }
  }
  return undefined
}
