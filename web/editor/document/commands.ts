import type { Edge, Json, JsonObject, Node } from '#model/definition'
import { portsOf } from '#model/graph-edges'
import { isObject } from '#model/json'
import type { Kind, KindTable } from '../kinds.ts'
import {
  allIds,
  type Doc,
  type DocGraph,
  findNode,
  type GraphPath,
  type KeyedEdge,
  type Point,
  portOf,
  positionKey,
  unusedName,
  withGraph,
} from './document.ts'
import { renameReferences } from './references.ts'

// Every change of a document is a function from one document to the next.

export type NodePort = { node: string; port: string }

const slug = (type: string): string => type.replace(/[^A-Za-z0-9_]+/g, '_')

/** Adds a node of a kind with its default arguments, connected after `after` if given. */
export function addNode(doc: Doc, path: GraphPath, kind: Kind, at: Point, after?: NodePort): { doc: Doc; id: string } {
  const id = unusedName(slug(kind.type), allIds(doc))
  const node: Node = { id, type: kind.type, name: kind.title, args: structuredClone(kind.defaults) }
  const placed = setPositions(
    withGraph(doc, path, (graph) => ({ ...graph, nodes: [...graph.nodes, node] })),
    path,
    { [id]: at },
  )
  return { id, doc: after ? connect(placed, path, after, id) : placed }
}

/** Inserts a newly added node into an edge: the edge then leads through the node. */
export function insertIntoEdge(doc: Doc, path: GraphPath, edgeId: string, id: string, port: string | undefined): Doc {
  return withGraph(doc, path, (graph) => {
    const edge = graph.edges.find((candidate) => candidate.id === edgeId)
    if (!edge) return graph
    const edges = graph.edges.map((old) => (old === edge ? { ...old, to: id } : old))
    const onward = port === undefined ? [] : [makeEdge(edges, { node: id, port }, edge.to)]
    return { ...graph, edges: [...edges, ...onward] }
  })
}

const makeEdge = (edges: KeyedEdge[], from: NodePort, to: string): KeyedEdge => ({
  id: unusedName(`${from.node}.${from.port}-${to}`, new Set(edges.map((edge) => edge.id))),
  from: from.port === 'out' ? { node: from.node } : { node: from.node, port: from.port },
  to,
})

/** Returns the reason why two nodes cannot be connected, or null. */
export function refuseConnection(graph: DocGraph, from: NodePort, to: string): string | null {
  if (from.node === to) return 'A node cannot connect to itself.'
  if (graph.edges.some((edge) => edge.from.node === from.node && portOf(edge) === from.port && edge.to === to))
    return 'These nodes are already connected.'
  const open = [to]
  const seen = new Set<string>()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === from.node) return 'This connection would create a cycle. Use “For each” to repeat steps.'
    if (seen.has(next)) continue
    seen.add(next)
    for (const edge of graph.edges) if (edge.from.node === next) open.push(edge.to)
  }
  return null
}

export const connect = (doc: Doc, path: GraphPath, from: NodePort, to: string): Doc =>
  withGraph(doc, path, (graph) =>
    refuseConnection(graph, from, to) === null
      ? { ...graph, edges: [...graph.edges, makeEdge(graph.edges, from, to)] }
      : graph,
  )

/** Moves one end of an edge. */
export const reconnect = (doc: Doc, path: GraphPath, edgeId: string, from: NodePort, to: string): Doc =>
  withGraph(doc, path, (graph) => {
    const others = { ...graph, edges: graph.edges.filter((edge) => edge.id !== edgeId) }
    const edge = graph.edges.find((candidate) => candidate.id === edgeId)
    if (!edge || refuseConnection(others, from, to) !== null) return graph
    return { ...graph, edges: [...others.edges, { ...edge, ...makeEdge(others.edges, from, to) }] }
  })

export function removeItems(doc: Doc, path: GraphPath, nodes: ReadonlySet<string>, edges: ReadonlySet<string>): Doc {
  if (nodes.size === 0 && edges.size === 0) return doc
  const less = withGraph(doc, path, (graph) => ({
    ...graph,
    nodes: graph.nodes.filter((node) => !nodes.has(node.id)),
    edges: graph.edges.filter((edge) => !edges.has(edge.id) && !nodes.has(edge.from.node) && !nodes.has(edge.to)),
  }))
  const gone = [...nodes].map((id) => positionKey(path, id))
  return rekeyPositions(less, (key) => (gone.some((id) => key === id || key.startsWith(`${id}/`)) ? null : key))
}

const rekeyPositions = (doc: Doc, rename: (key: string) => string | null): Doc => {
  const positions = Object.fromEntries(
    Object.entries(doc.layout.positions).flatMap(([key, point]) => {
      const next = rename(key)
      return next === null ? [] : [[next, point]]
    }),
  )
  return { ...doc, layout: { ...doc.layout, positions } }
}

export function setPositions(doc: Doc, path: GraphPath, moved: Readonly<Record<string, Point>>): Doc {
  const positions = { ...doc.layout.positions }
  for (const [id, { x, y }] of Object.entries(moved)) {
    positions[positionKey(path, id)] = { x: Math.round(x), y: Math.round(y) }
  }
  return { ...doc, layout: { ...doc.layout, positions } }
}

/** Changes a node and removes the edges from ports that it no longer has. */
export function changeNode(doc: Doc, path: GraphPath, id: string, kinds: KindTable, change: (node: Node) => Node): Doc {
  return withGraph(doc, path, (graph) => {
    const before = graph.nodes.find((node) => node.id === id)
    if (!before) return graph
    const after = change(before)
    if (after === before) return graph
    const kind = kinds.get(before.type)
    const lost = new Set(kind ? portsOf(before, kind) : [])
    for (const port of kind ? portsOf(after, kind) : []) lost.delete(port)
    const nodes = graph.nodes.map((node) => (node === before ? after : node))
    if (lost.size === 0) return { ...graph, nodes }
    return { ...graph, nodes, edges: graph.edges.filter((edge) => edge.from.node !== id || !lost.has(portOf(edge))) }
  })
}

/** Renames a case of a branch and updates the edges of its port. */
export function renameCase(doc: Doc, path: GraphPath, id: string, index: number, port: string): Doc {
  return withGraph(doc, path, (graph) => {
    const node = graph.nodes.find((candidate) => candidate.id === id)
    const cases = Array.isArray(node?.args?.cases) ? node.args.cases : []
    const old = cases[index]
    if (!node || !isObject(old)) return graph
    const args: JsonObject = { ...node.args, cases: cases.map((item, at) => (at === index ? { ...old, port } : item)) }
    const moved = (edge: KeyedEdge): KeyedEdge =>
      edge.from.node === id && edge.from.port === old.port ? { ...edge, from: { node: id, port } } : edge
    return {
      ...graph,
      nodes: graph.nodes.map((candidate) => (candidate === node ? { ...node, args } : candidate)),
      edges: graph.edges.map(moved),
    }
  })
}

const ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

export function refuseId(doc: Doc, old: string, next: string): string | null {
  if (next === old) return null
  if (!ID.test(next)) return 'Use up to 64 letters, digits, _ and -. Start with a letter or digit.'
  return allIds(doc).has(next) ? 'Another node has this id.' : null
}

/** Changes the id of a node, in the edges and in all references to it. */
export function renameNode(doc: Doc, path: GraphPath, old: string, next: string): Doc {
  if (old === next || refuseId(doc, old, next) !== null || !findNode(doc, path, old)) return doc
  const renames = new Map([[old, next]])
  const renamed = withGraph(doc, path, (graph) => {
    const followed = renameReferences(graph as unknown as Json, renames) as unknown as DocGraph
    const end = (id: string): string => (id === old ? next : id)
    return {
      ...followed,
      nodes: followed.nodes.map((node) => (node.id === old ? { ...node, id: next } : node)),
      edges: followed.edges.map((edge) => ({
        ...edge,
        from: { ...edge.from, node: end(edge.from.node) },
        to: end(edge.to),
      })),
    }
  })
  // `inputs` is a JSON Schema and `layout` is not a value: neither contains references to nodes.
  const untouched =
    path.length === 0 ? { ...renamed, ...(doc.inputs && { inputs: doc.inputs }), layout: doc.layout } : renamed
  const from = positionKey(path, old)
  const to = positionKey(path, next)
  return rekeyPositions(untouched, (key) =>
    key === from ? to : key.startsWith(`${from}/`) ? to + key.slice(from.length) : key,
  )
}

export const setCondition = (doc: Doc, path: GraphPath, edgeId: string, cel: string | null): Doc =>
  withGraph(doc, path, (graph) => ({
    ...graph,
    edges: graph.edges.map((edge) => {
      if (edge.id !== edgeId) return edge
      const { when: _when, ...rest } = edge
      return cel === null ? rest : { ...rest, when: { $cel: cel } }
    }),
  }))

export const setOutput = (doc: Doc, path: GraphPath, output: Json | undefined): Doc =>
  withGraph(doc, path, ({ output: _old, ...graph }) => (output === undefined ? graph : { ...graph, output }))

export function setInputs(doc: Doc, inputs: JsonObject | undefined): Doc {
  const { inputs: _old, ...rest } = doc
  return inputs === undefined ? rest : { ...rest, inputs }
}

/** Returns the port for a new neighbour: the first port without an edge, otherwise the first port. */
export function freePort(graph: DocGraph, node: Node, kind: Pick<Kind, 'ports'> | undefined): string | undefined {
  const ports = kind ? portsOf(node, kind) : []
  const taken = new Set(graph.edges.filter((edge: Edge) => edge.from.node === node.id).map(portOf))
  return ports.find((port) => !taken.has(port)) ?? ports[0]
}
