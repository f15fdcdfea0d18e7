import { useReactFlow, ViewportPortal } from '@xyflow/react'
import { GripHorizontal, X } from 'lucide-react'
import { type PointerEvent, useRef, useState } from 'react'
import { cx } from '#web/ui/cx.ts'
import { setPositions } from '../document/commands.ts'
import { changeNote, insideOf, type Note, notesIn, removeNote } from '../document/notes.ts'
import { useDoc, useEditor, useEditorStore } from '../store.ts'
import { boxesOf } from './boxes.ts'

/** Notes of the open graph, below its nodes. */
export function Notes() {
  const doc = useDoc()
  const path = useEditor((state) => state.path)
  const notes = notesIn(doc, path)
  if (notes.length === 0) return null
  return (
    <ViewportPortal>
      {notes.map((note) => (
        <OneNote key={note.id} note={note} />
      ))}
    </ViewportPortal>
  )
}

type Drag = { x: number; y: number; width: number; height: number }

function OneNote({ note }: { note: Note }) {
  const store = useEditorStore()
  const { getZoom, getNodes } = useReactFlow()
  const isFixed = useEditor((state) => state.readOnly || state.comparison !== null)
  const [moved, setMoved] = useState<Drag | null>(null)
  const from = useRef<{ x: number; y: number; size: boolean } | null>(null)
  const { id } = note
  const place: Drag = moved ?? note
  const change = (more: Partial<Note>, about?: string): void =>
    store.change((doc) => changeNote(doc, id, more), about && `note/${id}/${about}`)
  const handlers = (size: boolean) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>): void => {
      event.currentTarget.setPointerCapture(event.pointerId)
      from.current = { x: event.clientX, y: event.clientY, size }
    },
    onPointerMove: (event: PointerEvent<HTMLElement>): void => {
      if (!from.current) return
      const [dx, dy] = [event.clientX - from.current.x, event.clientY - from.current.y].map((by) => by / getZoom())
      const { x, y, width, height } = note
      setMoved(
        size
          ? { x, y, width: Math.max(80, width + dx!), height: Math.max(80, height + dy!) }
          : { x: x + dx!, y: y + dy!, width, height },
      )
    },
    onPointerUp: (): void => {
      from.current = null
      if (moved) {
        const rounded = Object.entries(moved).map(([key, value]) => [key, Math.round(value as number)])
        const inside = note.group && !size ? insideOf(note, boxesOf(getNodes())) : []
        const by = { x: Math.round(moved.x - note.x), y: Math.round(moved.y - note.y) }
        const places = Object.fromEntries(inside.map(({ id: node, x, y }) => [node, { x: x + by.x, y: y + by.y }]))
        store.change((doc) =>
          setPositions(changeNote(doc, id, Object.fromEntries(rounded) as Partial<Note>), store.get().path, places),
        )
      }
      setMoved(null)
    },
  })
  return (
    <div
      data-note={id}
      className={cx(
        'nodrag nopan absolute flex flex-col rounded-md border',
        note.group
          ? 'border-line-strong border-dashed bg-running-soft/30'
          : 'border-waiting/40 bg-waiting-soft shadow-sm',
      )}
      style={{
        transform: `translate(${place.x}px, ${place.y}px)`,
        width: place.width,
        height: place.height,
        // Below the nodes, which are drawn later, and above the background.
        pointerEvents: note.group ? 'none' : 'all',
      }}
    >
      {!isFixed && (
        <div
          className={cx(
            'pointer-events-auto flex items-center justify-between px-1',
            note.group ? 'text-ink-2' : 'text-waiting',
          )}
        >
          <span
            title={note.group ? 'Drag to move the group and its nodes' : 'Drag to move the note'}
            className="flex flex-1 cursor-grab justify-center py-0.5 active:cursor-grabbing"
            {...handlers(false)}
          >
            <GripHorizontal aria-hidden className="size-4" />
          </span>
          <button
            type="button"
            aria-label={note.group ? 'Delete the group, not its nodes' : 'Delete the note'}
            className="rounded p-0.5 hover:bg-hover"
            onClick={() => store.change((doc) => removeNote(doc, id))}
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </div>
      )}
      {note.group ? (
        <input
          aria-label="Name of the group"
          readOnly={isFixed}
          value={note.text}
          placeholder="Name the group"
          maxLength={200}
          onChange={(event) => change({ text: event.currentTarget.value }, 'text')}
          className="pointer-events-auto w-full bg-transparent px-2.5 text-sm font-semibold outline-none placeholder:text-ink-3"
        />
      ) : (
        <textarea
          aria-label="Note"
          readOnly={isFixed}
          value={note.text}
          placeholder="Write a note"
          maxLength={4_000}
          onChange={(event) => change({ text: event.currentTarget.value }, 'text')}
          className="nowheel min-h-0 flex-1 resize-none bg-transparent px-2.5 pb-2 text-sm outline-none placeholder:text-ink-3"
        />
      )}
      {!isFixed && (
        <span
          title="Drag to change the size"
          className="pointer-events-auto absolute right-0 bottom-0 size-3 cursor-nwse-resize border-r-2 border-b-2 border-waiting/60"
          {...handlers(true)}
        />
      )}
    </div>
  )
}
