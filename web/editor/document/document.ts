import { bodyOf as bodyOfNode } from '#model/body'
import type { Definition, Edge, Graph, Json, JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'

// The document of the editor: a definition whose edges all have ids and whose layout has positions. A body of a `map`
// is a graph inside an argument; the ids of the maps that lead to a graph identify it.

export type Point = { x: number; y: number }
export type KeyedEdge = Edge & { id: string }
export type DocGraph = Omit<Graph, 'edges'> & { edges: KeyedEdge[] }
export type Layout = JsonObject & { positions: { [key: string]: { x: number; y: number } } }
export type Doc = Omit<Definition, 'edges' | 'layout'> & { edges: KeyedEdge[]; layout: Layout }
/** The ids of the maps around the current graph, outermost first; empty at the top. */
export type GraphPath = readonly string[]

export const TOP: GraphPath = []
export const portOf = (edge: Edge): string => edge.from.port ?? 'out'
export const positionKey = (path: GraphPath, id: string): string => [...path, id].join('/')

export const emptyDoc = (): Doc => ({ nodes: [], edges: [], layout: { positions: {} } })

/**
 * Reads a definition of the service or a draft. The ids for edges without an id are derived from the edges, so reading
 * twice gives the same result.
 */
export function readDoc(definition: unknown): Doc {
  const source = isObject(definition) ? definition : {}
  const layout = isObject(source.layout) ? source.layout : {}
  return {
    ...(source as unknown as Definition),
    ...readGraph(source),
    layout: { ...layout, positions: readPositions(layout.positions) },
  }
}

export function readGraph(source: JsonObject): DocGraph {
  const nodes = (Array.isArray(source.nodes) ? source.nodes : []).filter(isNode).map(readNode)
  const taken = new Set<string>()
  const edges = (Array.isArray(source.edges) ? source.edges : []).filter(isEdge).map((edge): KeyedEdge => {
    const id = unusedName(edge.id ?? `${edge.from.node}.${portOf(edge)}-${edge.to}`, taken)
    taken.add(id)
    return { ...edge, id }
  })
  return { ...(source as unknown as Graph), nodes, edges }
}

function readNode(node: Node): Node {
  const body = bodyOfNode(node)
  if (!body) return node
  return { ...node, args: { ...node.args, body: readGraph(body) as unknown as JsonObject } }
}

const isNode = (value: Json): value is JsonObject & Node =>
  isObject(value) && typeof value.id === 'string' && typeof value.type === 'string'

const isEdge = (value: Json): value is JsonObject & Edge =>
  isObject(value) && isObject(value.from) && typeof value.from.node === 'string' && typeof value.to === 'string'

function readPositions(value: Json | undefined): Layout['positions'] {
  const positions: Layout['positions'] = {}
  for (const [key, point] of Object.entries(isObject(value) ? value : {})) {
    if (isObject(point) && Number.isFinite(point.x) && Number.isFinite(point.y))
      positions[key] = { x: Number(point.x), y: Number(point.y) }
  }
  return positions
}

/** Returns `wanted`, or `wanted` with the first number that is not taken. */
export function unusedName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}_${number}`)) return `${wanted}_${number}`
}

const bodyOf = (graph: Graph, id: string): DocGraph | undefined => {
  const body = graph.nodes.find((node) => node.id === id)?.args?.body
  return isObject(body) && Array.isArray(body.nodes) ? (body as unknown as DocGraph) : undefined
}

/** Returns the graph at a path; undefined if a map on the path no longer exists. */
export function graphAt(doc: DocGraph, path: GraphPath): DocGraph | undefined {
  let graph: DocGraph | undefined = doc
  for (const id of path) graph = graph && bodyOf(graph, id)
  return graph
}

export function withGraph<G extends DocGraph>(doc: G, path: GraphPath, change: (graph: DocGraph) => DocGraph): G {
  const [first, ...rest] = path
  if (first === undefined) return change(doc) as G
  const nodes = doc.nodes.map((node) => {
    if (node.id !== first) return node
    const body = bodyOf(doc, first) ?? { nodes: [], edges: [] }
    return { ...node, args: { ...node.args, body: withGraph(body, rest, change) as unknown as JsonObject } }
  })
  return { ...doc, nodes }
}

export const findNode = (doc: DocGraph, path: GraphPath, id: string): Node | undefined =>
  graphAt(doc, path)?.nodes.find((node) => node.id === id)

/**
 * Returns the ids of all nodes at every depth: a body may not repeat ids of the graphs around it, and unique ids are
 * easier to read.
 */
export function allIds(graph: Graph, found: Set<string> = new Set()): Set<string> {
  for (const node of graph.nodes) {
    found.add(node.id)
    const body = bodyOf(graph, node.id)
    if (body) allIds(body, found)
  }
  return found
}

export const titleOf = (node: Pick<Node, 'id' | 'name'>): string => node.name || node.id

export const sameDoc = (a: Doc, b: Doc): boolean => a === b || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]))
}
