import type { Edge, Node, ReactFlowInstance } from '@xyflow/react'

/** Below this zoom the text of a node is unreadable: a larger graph is opened at its start instead of in full. */
export const MIN_READABLE_ZOOM = 0.75
const MARGIN = 24

/** Scrolls to a node of a graph that is larger than its box. */
export function showNode<N extends Node, E extends Edge>(
  flow: ReactFlowInstance<N, E>,
  box: HTMLElement,
  id: string,
): void {
  const bounds = flow.getNodesBounds([id])
  if (bounds.width === 0) return
  const from = flow.flowToScreenPosition({ x: bounds.x, y: bounds.y })
  const to = flow.flowToScreenPosition({ x: bounds.x + bounds.width, y: bounds.y + bounds.height })
  const { left, right, top, bottom } = box.getBoundingClientRect()
  if (from.x >= left && to.x <= right && from.y >= top && to.y <= bottom) return
  const zoom = flow.getZoom()
  void flow.setCenter(bounds.x + bounds.width / 2, bounds.y + bounds.height / 2, { zoom })
}

/** Shows a graph that is too large for its box from its first step, not from its middle. */
export function showStart<N extends Node, E extends Edge>(flow: ReactFlowInstance<N, E>, height: number): void {
  const { x, y, zoom } = flow.getViewport()
  const nodes = flow.getNodes()
  const bounds = flow.getNodesBounds(nodes)
  const first = nodes.find(({ position }) => position.x === bounds.x)
  const left = bounds.x * zoom + x
  const isTall = bounds.height * zoom > height
  if (!first || (left >= 0 && !isTall)) return
  void flow.setViewport({
    x: left < 0 ? MARGIN - bounds.x * zoom : x,
    y: isTall ? height / 2 - first.position.y * zoom : y,
    zoom,
  })
}
