import dagre from '@dagrejs/dagre'
import type { Definition, Edge } from '#model/definition'
import { isObject } from '#model/json'

export const NODE_WIDTH = 200
export const NODE_HEIGHT = 60

export type Point = { x: number; y: number }

/** Where each node stands: as its author placed it, or arranged from left to right. */
export function placeNodes(definition: Pick<Definition, 'nodes' | 'edges' | 'layout'>): Map<string, Point> {
  return authored(definition) ?? arranged(definition)
}

function authored({ nodes, layout }: Pick<Definition, 'nodes' | 'layout'>): Map<string, Point> | undefined {
  const positions = layout?.positions
  if (!isObject(positions)) return undefined
  const places = new Map<string, Point>()
  for (const { id } of nodes) {
    const point = Object.hasOwn(positions, id) ? positions[id] : undefined
    if (!isObject(point) || typeof point.x !== 'number' || typeof point.y !== 'number') return undefined
    places.set(id, { x: point.x, y: point.y })
  }
  return places
}

function arranged({ nodes, edges }: Pick<Definition, 'nodes' | 'edges'>): Map<string, Point> {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 72 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of nodes) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT })
  for (const [index, { from, to }] of edges.entries()) graph.setEdge(from.node, to, {}, String(index))
  dagre.layout(graph)
  return new Map(
    nodes.map(({ id }) => {
      const { x, y } = graph.node(id)
      return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }]
    }),
  )
}

export const edgeLabel = ({ from, when }: Edge): string | undefined => {
  const port = from.port && from.port !== 'out' ? from.port : undefined
  return when
    ? `${port ? `${port}, ` : ''}if ${when.$cel.length > 28 ? `${when.$cel.slice(0, 27)}…` : when.$cel}`
    : port
}
