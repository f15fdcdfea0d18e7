import { type MouseEvent, type PointerEvent, useRef, useState } from 'react'

// Lets fingers and pens drag a node out of the palette: the browser's own dragging works only with a mouse. A move
// along the list scrolls it; a move to the side drags the entry.

/** A shorter move is a tap that was not quite still. */
const TAKEN_AFTER_PX = 12

export type Point = { x: number; y: number }

export function useTouchDrag(onDrop: (at: Point) => void) {
  const [at, setAt] = useState<Point | null>(null)
  const start = useRef<Point | null>(null)
  const wasDragged = useRef(false)
  const end = (): void => {
    start.current = null
    setAt(null)
  }
  return {
    /** The position of the dragged entry; null if none is dragged. */
    at,
    handlers: {
      onPointerDown: (event: PointerEvent): void => {
        wasDragged.current = false
        start.current = event.pointerType === 'mouse' ? null : { x: event.clientX, y: event.clientY }
      },
      onPointerMove: (event: PointerEvent): void => {
        const from = start.current
        if (from === null) return
        const here = { x: event.clientX, y: event.clientY }
        if (!wasDragged.current) {
          if (Math.abs(here.x - from.x) < TAKEN_AFTER_PX) return
          wasDragged.current = true
          event.currentTarget.setPointerCapture(event.pointerId)
        }
        setAt(here)
      },
      onPointerUp: (event: PointerEvent): void => {
        if (start.current !== null && wasDragged.current) onDrop({ x: event.clientX, y: event.clientY })
        end()
      },
      /** The browser scrolls instead. */
      onPointerCancel: end,
      /** Suppresses the click after a drag, so that the entry is not added a second time. */
      onClickCapture: (event: MouseEvent): void => {
        if (!wasDragged.current) return
        wasDragged.current = false
        event.preventDefault()
        event.stopPropagation()
      },
    },
  }
}
