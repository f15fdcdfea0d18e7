import { type ReactFlowState, useStore } from '@xyflow/react'
import { createContext, useEffect } from 'react'

// How much of a graph is drawn. From afar a node is a plain box in the colour of its kind and all edges are one line, without
// letters that nobody can make out and dots that nobody can hit.

/** Below this, the letters of a node are four pixels high at most. */
const FAR = 0.3

/** Whether the graph is looked at from afar. */
export const Far = createContext(false)

const isFar = ({ transform }: ReactFlowState): boolean => transform[2] < FAR

/** Tells when it comes to be looked at from afar, or from near by again. */
export function WatchView({ onFar }: { onFar(far: boolean): void }) {
  const far = useStore(isFar)
  useEffect(() => onFar(far), [far, onFar])
  return null
}
