import { useReactFlow, ViewportPortal } from '@xyflow/react'
import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Point } from '../document/document.ts'

/** How long the button stays after the pointer has left the edge, so that it can be reached. */
const STAYS_MS = 500

/**
 * A button in the middle of the edge under the pointer. The whole canvas shares one button, because there may be
 * hundreds of edges.
 */
export function EdgePlus({ hovered, onInsert }: { hovered: string | null; onInsert(edgeId: string): void }) {
  const { getZoom } = useReactFlow()
  const [shown, setShown] = useState<{ id: string; at: Point } | null>(null)
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (hovered !== null) {
      const at = middleOf(hovered)
      setShown(at && { id: hovered, at })
      return
    }
    if (held) return
    const timer = setTimeout(() => setShown(null), STAYS_MS)
    return () => clearTimeout(timer)
  }, [hovered, held])
  if (!shown) return null
  return (
    <ViewportPortal>
      <button
        type="button"
        aria-label="Insert a node here"
        title="Insert a node here"
        tabIndex={-1}
        className="nodrag nopan absolute grid size-6 place-items-center rounded-full border border-accent bg-surface text-accent-strong shadow-sm hover:bg-accent-soft"
        style={{
          transform: `translate(-50%, -50%) translate(${shown.at.x}px, ${shown.at.y}px) scale(${Math.max(1, 0.8 / getZoom())})`,
          pointerEvents: 'all',
          zIndex: 2_000,
        }}
        onMouseEnter={() => setHeld(true)}
        onMouseLeave={() => setHeld(false)}
        onClick={() => {
          setShown(null)
          setHeld(false)
          onInsert(shown.id)
        }}
      >
        <Plus aria-hidden className="size-3.5" />
      </button>
    </ViewportPortal>
  )
}

/** Returns the middle of an edge on the canvas, where the label of its condition also is. */
function middleOf(edgeId: string): Point | null {
  const edge = document.querySelector(`.react-flow__edge[data-id="${CSS.escape(edgeId)}"]`)
  const path = edge?.querySelector<SVGPathElement>('path.react-flow__edge-path')
  if (!path) return null
  const { x, y } = path.getPointAtLength(path.getTotalLength() / 2)
  return { x, y }
}
