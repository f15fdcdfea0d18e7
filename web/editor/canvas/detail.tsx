import { type ReactFlowState, useStore } from '@xyflow/react'
import { createContext, useEffect } from 'react'

// The level of detail of a graph. Zoomed out, a node is a plain box in the colour of its kind and all edges are one
// line, without text that is too small to read and dots that are too small to click.

/** Below this zoom, the letters of a node are at most four pixels high. */
const FAR = 0.3

/** Whether the graph is zoomed out. */
export const ZoomedOut = createContext(false)

const isFar = ({ transform }: ReactFlowState): boolean => transform[2] < FAR

/** Calls `onFar` when the zoom crosses the limit. */
export function WatchView({ onFar }: { onFar(far: boolean): void }) {
  const far = useStore(isFar)
  useEffect(() => onFar(far), [far, onFar])
  return null
}
