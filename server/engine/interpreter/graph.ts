import type { Edge, Graph, Node } from '#model/definition'

/** A graph with its edges indexed by node. */
export type Compiled = {
  graph: Graph
  nodes: Map<string, Node>
  incoming: Map<string, Edge[]>
  outgoing: Map<string, Edge[]>
  /**
   * The ids of the `finally` nodes (`last`) and of the other nodes (`first`), in reverse order: nodes are taken from
   * the end of the list.
   */
  last: readonly string[]
  first: readonly string[]
}

const compiled = new WeakMap<Graph, Compiled>()

/** Definitions never change, so each is compiled once while it is in memory. */
export const compile = (graph: Graph): Compiled => {
  const known = compiled.get(graph)
  if (known) return known
  const idsWhere = (isLast: boolean): string[] =>
    graph.nodes.flatMap((node) => ((node.finally === true) === isLast ? [node.id] : [])).reverse()
  const result: Compiled = {
    graph,
    last: idsWhere(true),
    first: idsWhere(false),
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    incoming: new Map(graph.nodes.map((node) => [node.id, []])),
    outgoing: new Map(graph.nodes.map((node) => [node.id, []])),
  }
  for (const edge of graph.edges ?? []) {
    result.incoming.get(edge.to)?.push(edge)
    result.outgoing.get(edge.from.node)?.push(edge)
  }
  compiled.set(graph, result)
  return result
}

export const portOf = (edge: Edge): string => edge.from.port ?? 'out'

/** Returns all nodes reachable from `start`, including `start`. */
export const downstream = (graph: Graph, start: string): Set<string> => {
  const { outgoing } = compile(graph)
  const seen = new Set([start])
  const next = [start]
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    for (const edge of outgoing.get(id) ?? []) {
      if (seen.has(edge.to)) continue
      seen.add(edge.to)
      next.push(edge.to)
    }
  }
  return seen
}
