import type { Edge, Graph, Node } from '#model/definition'

/** A graph with its edges looked up by node. */
export type Compiled = {
  graph: Graph
  nodes: Map<string, Node>
  incoming: Map<string, Edge[]>
  outgoing: Map<string, Edge[]>
  /** Ids of the nodes that run at the end, and of the others; in the order in which they are looked at from behind. */
  last: readonly string[]
  first: readonly string[]
}

const compiled = new WeakMap<Graph, Compiled>()

/** Definitions never change, so each is compiled once for as long as it is in memory. */
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

/** Every node reachable from `start`, itself included. */
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
