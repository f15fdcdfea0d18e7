import { useStoreApi } from '@xyflow/react'
import { useEffect, useRef } from 'react'

const GAP = 24
const RADIUS = 0.9

/**
 * The dots behind a graph. A picture larger than the canvas by two of them, so that panning only shifts it by less than one:
 * drawn anew for each frame they took longer than all nodes in sight.
 */
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
