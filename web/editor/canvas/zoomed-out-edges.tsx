import { getBezierPath, Position, ViewportPortal } from '@xyflow/react'
import { memo, useMemo } from 'react'
import { edgeClass } from './connection-edge.tsx'
import type { FlowEdge, FlowNode } from './flow-items.ts'

/** All edges when zoomed out: one path for each style, instead of a component for each edge. */
export const ZoomedOutEdges = memo(function FarWays({ nodes, edges }: { nodes: FlowNode[]; edges: FlowEdge[] }) {
  const lines = useMemo(() => linesOf(nodes, edges), [nodes, edges])
  return (
    <ViewportPortal>
      <svg aria-hidden className="far-ways">
        {lines.map(([look, path]) => (
          <path key={look} className={look} d={path} />
        ))}
      </svg>
    </ViewportPortal>
  )
})

function linesOf(nodes: FlowNode[], edges: FlowEdge[]): [look: string, path: string][] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const lines = new Map<string, string>()
  for (const edge of edges) {
    const [from, to] = [
      dotOf(byId.get(edge.source), edge.sourceHandle),
      dotOf(byId.get(edge.target), edge.targetHandle),
    ]
    if (!from || !to) continue
    const [path] = getBezierPath({
      sourceX: from.x,
      sourceY: from.y,
      sourcePosition: Position.Right,
      targetX: to.x,
      targetY: to.y,
      targetPosition: Position.Left,
    })
    const look = edgeClass(edge.data!, edge.selected === true)
    lines.set(look, (lines.get(look) ?? '') + path)
  }
  return [...lines]
}

function dotOf(node: FlowNode | undefined, id: string | null | undefined): { x: number; y: number } | undefined {
  const dot = node?.handles?.find((handle) => handle.id === id)
  if (!node || !dot) return undefined
  return { x: node.position.x + dot.x + (dot.width ?? 0) / 2, y: node.position.y + dot.y + (dot.height ?? 0) / 2 }
}
