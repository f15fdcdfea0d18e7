import { useOnViewportChange, useStoreApi } from '@xyflow/react'
import { createContext, useMemo } from 'react'

// How much of a graph is drawn. From afar a node is a plain box in the colour of its kind and all edges are one line: letters
// that nobody can make out, and dots that nobody can hit, cost as much to draw as those that one reads.

/** Below this, the letters of a node are four pixels high at most. */
const FAR = 0.3

/** Whether the graph is looked at from afar. */
export const Far = createContext(false)

/** While the graph is moved, seen from afar, it is a picture of its own that is only shifted and scaled (canvas.css). */
export function WatchView({ onFar }: { onFar(far: boolean): void }) {
  const store = useStoreApi()
  const watch = useMemo(() => {
    const mark = (on: boolean): void => void store.getState().domNode?.toggleAttribute('data-moving', on)
    return {
      onStart: () => mark(true),
      onChange: ({ zoom }: { zoom: number }) => onFar(zoom < FAR),
      onEnd: () => mark(false),
    }
  }, [store, onFar])
  useOnViewportChange(watch)
  return null
}
