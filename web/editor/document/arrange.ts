import dagre from '@dagrejs/dagre'
import type { NodeSize } from '../canvas/size.ts'
import type { DocGraph, Point } from './document.ts'

/** Computes positions for all nodes, from left to right along the edges. Loaded when first needed. */
export function arrange(graph: DocGraph, sizeOf: (id: string) => NodeSize): Record<string, Point> {
  const drawing = new dagre.graphlib.Graph()
  drawing.setGraph({ rankdir: 'LR', nodesep: 36, ranksep: 60, marginx: 0, marginy: 0 })
  drawing.setDefaultEdgeLabel(() => ({}))
  const ids = new Set(graph.nodes.map((node) => node.id))
  for (const { id } of graph.nodes) drawing.setNode(id, { ...sizeOf(id) })
  for (const edge of graph.edges)
    if (ids.has(edge.from.node) && ids.has(edge.to)) drawing.setEdge(edge.from.node, edge.to)
  dagre.layout(drawing)
  return Object.fromEntries(
    graph.nodes.map(({ id }) => {
      const { width, height } = sizeOf(id)
      const { x, y } = drawing.node(id) as Point
      return [id, { x: Math.round(x - width / 2), y: Math.round(y - height / 2) }]
    }),
  )
}
