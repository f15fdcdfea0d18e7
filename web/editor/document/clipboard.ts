import { bodyOf } from '#model/body'
import type { Json, JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'
import { setPositions } from './commands.ts'
import {
  allIds,
  type Doc,
  type DocGraph,
  type GraphPath,
  graphAt,
  type KeyedEdge,
  type Point,
  portOf,
  positionKey,
  readGraph,
  unusedName,
  withGraph,
} from './document.ts'
import { renameReferences } from './references.ts'

// Copied nodes are JSON text: they can be pasted into another workflow, a chat or a file. A whole definition can be
// pasted too.

type Clip = { nodes: Node[]; edges: KeyedEdge[]; positions: Record<string, Point> }

const MARK = 'heddle/nodes'

export function copyText(doc: Doc, path: GraphPath, ids: ReadonlySet<string>): string | null {
  const graph = graphAt(doc, path)
  const nodes = graph?.nodes.filter((node) => ids.has(node.id)) ?? []
  if (!graph || nodes.length === 0) return null
  const edges = graph.edges.filter((edge) => ids.has(edge.from.node) && ids.has(edge.to))
  const positions: Record<string, Point> = {}
  for (const node of nodes) {
    const prefix = positionKey(path, node.id)
    for (const [key, point] of Object.entries(doc.layout.positions)) {
      if (key === prefix || key.startsWith(`${prefix}/`)) positions[node.id + key.slice(prefix.length)] = point
    }
  }
  return JSON.stringify({ kind: MARK, nodes, edges, positions }, null, 2)
}

export function readClip(text: string): Clip | null {
  let source: unknown
  try {
    source = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(source) || !Array.isArray(source.nodes) || source.nodes.length > 500) return null
  const { nodes, edges } = readGraph(source)
  const layout = isObject(source.layout) ? source.layout.positions : source.positions
  const positions: Record<string, Point> = {}
  for (const [key, point] of Object.entries(isObject(layout) ? layout : {})) {
    if (isObject(point) && typeof point.x === 'number' && typeof point.y === 'number')
      positions[key] = { x: point.x, y: point.y }
  }
  return nodes.length === 0 ? null : { nodes, edges, positions }
}

/**
 * Pastes with the middle of the copied nodes at `at`; nodes whose ids are taken get new ids, and references are
 * updated.
 */
export function pasteClip(doc: Doc, path: GraphPath, clip: Clip, at: Point): { doc: Doc; ids: string[] } {
  const taken = allIds(doc)
  const renames = new Map<string, string>()
  for (const id of allIds({ nodes: clip.nodes, edges: [] })) {
    const next = unusedName(id, taken)
    taken.add(next)
    if (next !== id) renames.set(id, next)
  }
  const pasted = renameAll({ nodes: clip.nodes, edges: clip.edges }, renames)
  const ids = pasted.nodes.map((node) => node.id)
  const places = clip.nodes.map((node, index) => clip.positions[node.id] ?? { x: index * 40, y: index * 40 })
  const middle = {
    x: places.reduce((sum, { x }) => sum + x, 0) / places.length,
    y: places.reduce((sum, { y }) => sum + y, 0) / places.length,
  }
  const moved = Object.fromEntries(
    ids.map((id, index) => [id, { x: at.x + places[index]!.x - middle.x, y: at.y + places[index]!.y - middle.y }]),
  )
  for (const [key, point] of Object.entries(clip.positions)) {
    if (key.includes('/'))
      moved[
        key
          .split('/')
          .map((id) => renames.get(id) ?? id)
          .join('/')
      ] = point
  }
  const added = withGraph(doc, path, (graph) => {
    const names = new Set(graph.edges.map((edge) => edge.id))
    const edges = pasted.edges.map((edge) => {
      const id = unusedName(`${edge.from.node}.${portOf(edge)}-${edge.to}`, names)
      names.add(id)
      return { ...edge, id }
    })
    return { ...graph, nodes: [...graph.nodes, ...pasted.nodes], edges: [...graph.edges, ...edges] }
  })
  return { doc: setPositions(added, path, moved), ids }
}

function renameAll(graph: DocGraph, renames: ReadonlyMap<string, string>): DocGraph {
  const name = (id: string): string => renames.get(id) ?? id
  return {
    ...graph,
    nodes: graph.nodes.map((node) => {
      const inner = bodyOf(node)
      const args = node.args && (renameReferences(node.args, renames) as JsonObject)
      return {
        ...node,
        id: name(node.id),
        ...(args && { args }),
        ...(args &&
          inner && {
            args: {
              ...args,
              body: renameAll(renameReferences(inner, renames) as unknown as DocGraph, renames) as unknown as Json,
            },
          }),
      }
    }),
    edges: graph.edges.map((edge) => ({
      ...edge,
      from: { ...edge.from, node: name(edge.from.node) },
      to: name(edge.to),
    })),
  }
}
