import { useStoreApi } from '@xyflow/react'
import { useEffect, useRef } from 'react'

const GAP = 24
const RADIUS = 0.9

/** The dots behind a graph, as a background of CSS that is shifted by less than one gap; xyflow's are drawn as a pattern of SVG. */
export function Dots() {
  const store = useStoreApi()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = ({ transform: [x, y, zoom] }: ReturnType<typeof store.getState>): void => {
      // The store tells of its own end too, when the dots are gone.
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
