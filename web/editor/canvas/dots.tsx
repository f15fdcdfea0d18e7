import { useStoreApi } from '@xyflow/react'
import { useEffect, useRef } from 'react'

const GAP = 24
const RADIUS = 0.9

/**
 * The dots behind a graph, as a CSS background that is shifted by less than one gap; xyflow would draw them as an SVG
 * pattern.
 */
export function Dots() {
  const store = useStoreApi()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = ({ transform: [x, y, zoom] }: ReturnType<typeof store.getState>): void => {
      // The store also notifies after the dots are unmounted.
      if (!box.current) return
      const gap = GAP * zoom
      const { style } = box.current
      style.setProperty('--gap', `${gap}px`)
      style.setProperty('--radius', `${RADIUS * zoom}px`)
      style.transform = `translate(${x % gap}px, ${y % gap}px)`
    }
    place(store.getState())
    return store.subscribe(place)
  }, [store])
  return <div ref={box} aria-hidden className="canvas-dots" />
}
