import { Keyboard, Maximize, Network, Plus, Search, StickyNote, ZoomIn, ZoomOut } from 'lucide-react'
import type { RefObject } from 'react'
import { IconButton } from '#web/ui/button.tsx'
import { addNoteInSight, arrangeAll } from '../actions.ts'
import { useEditor, useEditorStore } from '../store.ts'
import type { Flow } from './graph-canvas.tsx'

export const FIT = { maxZoom: 1, padding: 0.15, duration: 200 }

export function CanvasControls({ flow }: { flow: RefObject<Flow | null> }) {
  const store = useEditorStore()
  const readOnly = useEditor((state) => state.readOnly || state.comparison !== null)
  const arrange = async (): Promise<void> => {
    await arrangeAll(store)
    requestAnimationFrame(() => void flow.current?.fitView(FIT))
  }
  return (
    <div role="toolbar" aria-label="Canvas" className="flex rounded-md border border-line bg-surface p-0.5 shadow-sm">
      {!readOnly && (
        <IconButton
          size="small"
          icon={Plus}
          label="Add a node (/)"
          onClick={() => store.set({ quick: { mode: 'add' } })}
        />
      )}
      {!readOnly && (
        <IconButton
          size="small"
          icon={StickyNote}
          label="Add a note (N)"
          onClick={() => addNoteInSight(store, flow.current)}
        />
      )}
      <IconButton
        size="small"
        icon={Search}
        label="Find a node (Ctrl F)"
        onClick={() => store.set({ quick: { mode: 'find' } })}
      />
      <IconButton
        size="small"
        icon={ZoomIn}
        label="Zoom in (+)"
        onClick={() => void flow.current?.zoomIn({ duration: 120 })}
      />
      <IconButton
        size="small"
        icon={ZoomOut}
        label="Zoom out (−)"
        onClick={() => void flow.current?.zoomOut({ duration: 120 })}
      />
      <IconButton
        size="small"
        icon={Maximize}
        label="Fit to screen (F)"
        onClick={() => void flow.current?.fitView(FIT)}
      />
      {!readOnly && <IconButton size="small" icon={Network} label="Tidy up (L)" onClick={() => void arrange()} />}
      <IconButton
        size="small"
        icon={Keyboard}
        label="Keyboard shortcuts (?)"
        onClick={() => store.set({ help: true })}
      />
    </div>
  )
}
