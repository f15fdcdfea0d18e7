import type { Edge, Node, ReactFlowInstance } from '@xyflow/react'

/** A graph too wide for its place is seen from its first step on, not from its middle. */
export function showBeginning<N extends Node, E extends Edge>(flow: ReactFlowInstance<N, E>): void {
  const { x, y, zoom } = flow.getViewport()
  const left = flow.getNodesBounds(flow.getNodes()).x * zoom + x
  if (left < 0) void flow.setViewport({ x: x - left + 16, y, zoom })
}
