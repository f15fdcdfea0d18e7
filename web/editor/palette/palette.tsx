import { PanelLeftClose, PanelLeftOpen, Search } from 'lucide-react'
import { type RefObject, useEffect, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { translateMessage } from '#web/words/messages.ts'
import { add } from '../actions.ts'
import { dropAt } from '../canvas/drop.ts'
import type { Flow } from '../canvas/graph-canvas.tsx'
import type { Kind } from '../kinds.ts'
import { isNarrow } from '../narrow.ts'
import { draggedText, useServiceKinds } from '../services/service-kinds.ts'
import { useEditorStore } from '../store.ts'
import { KIND_TYPE, KindTile } from './kind-tile.tsx'
import { foundServices, searchKinds } from './search.ts'
import { type Point, useTouchDrag } from './touch-drag.ts'

const KEY = 'heddle.palette'

/** Every kind of node: the user drags it onto the canvas, or clicks to add it after the selected node. */
export function Palette({ flow }: { flow: RefObject<Flow | null> }) {
  const store = useEditorStore()
  const [open, setOpen] = useState(() => !isNarrow() && localStorage.getItem(KEY) !== 'closed')
  const [search, setSearch] = useState('')
  const [held, setHeld] = useState(false)
  const services = useServiceKinds(store.kinds.table)
  const groups = useMemo(
    () =>
      [
        ...store.kinds.groups.map(({ title, kinds }) => ({ title, kinds: searchKinds(kinds, search) })),
        { title: 'Actions of services', kinds: foundServices(services, search) },
      ].filter(({ kinds }) => kinds.length > 0),
    [store, services, search],
  )
  const toggle = (): void => {
    if (!isNarrow()) localStorage.setItem(KEY, open ? 'closed' : 'open')
    setOpen(!open)
  }
  /** Adds a node. On a small screen the palette covers the canvas, so it closes to show the added node. */
  const addKind = (kind: Kind): void => {
    const id = add(store, kind)
    // Scrolls to the node and focuses it.
    if (id !== undefined) store.set({ focus: id })
    if (isNarrow()) setOpen(false)
  }
  const drop = (kind: Kind, at: Point): void => {
    const isOnCanvas = document.elementFromPoint(at.x, at.y)?.closest('[data-canvas]') != null
    if (isOnCanvas && dropAt(store, flow.current, kind, at) && isNarrow()) setOpen(false)
  }
  if (!open) {
    return (
      <div className="border-r border-line bg-surface p-1.5">
        <IconButton icon={PanelLeftOpen} label="Show the palette" size="small" onClick={toggle} />
      </div>
    )
  }
  return (
    <section
      aria-label="Palette"
      className={cx(
        'flex min-h-0 w-50 shrink-0 flex-col border-r border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:left-0 max-lg:z-20 max-lg:w-64 max-lg:shadow-raised',
        // The palette becomes transparent while an entry is dragged to the canvas below it.
        held && 'max-lg:pointer-events-none max-lg:opacity-0',
      )}
    >
      <div className="flex items-center gap-1.5 border-b border-line py-1.5 pr-1.5 pl-3">
        <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
        <input
          aria-label="Search the palette"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            const first = groups[0]?.kinds[0]
            if (event.key === 'Enter' && first) addKind(first)
          }}
          placeholder="Search nodes"
          className="h-7 min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-3"
        />
        <IconButton icon={PanelLeftClose} label="Hide the palette" size="small" onClick={toggle} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {groups.map(({ title, kinds }) => (
          <div key={title}>
            <h3 className="px-1.5 pt-3 pb-1 text-xs font-medium text-ink-3">{title}</h3>
            {kinds.map((kind) => (
              <PaletteItem
                key={`${kind.type} ${kind.title}`}
                kind={kind}
                onAdd={() => addKind(kind)}
                onHold={setHeld}
                onDrop={(at) => drop(kind, at)}
              />
            ))}
          </div>
        ))}
        {groups.length === 0 && <p className="px-1.5 py-4 text-ink-3">No matches.</p>}
      </div>
    </section>
  )
}

function PaletteItem({
  kind,
  onAdd,
  onHold,
  onDrop,
}: {
  kind: Kind
  onAdd(): void
  onHold(held: boolean): void
  onDrop(at: Point): void
}) {
  const { at, handlers } = useTouchDrag(onDrop)
  const isHeld = at !== null
  useEffect(() => onHold(isHeld), [isHeld, onHold])
  return (
    <button
      type="button"
      draggable
      title={
        kind.available
          ? kind.description
          : `${kind.description}\n\nNot set up here: ${translateMessage(kind.unavailable_reason ?? '')}`
      }
      onDragStart={(event) => {
        event.dataTransfer.setData(KIND_TYPE, draggedText(kind))
        event.dataTransfer.effectAllowed = 'copy'
      }}
      {...handlers}
      onClick={onAdd}
      className="flex w-full touch-pan-y items-center gap-2 rounded-md px-1.5 py-1 text-left hover:bg-hover active:cursor-grabbing"
    >
      <KindTile kind={kind} />
      <span className={cx('min-w-0 truncate', !kind.available && 'text-ink-3')}>{kind.title}</span>
      {at && createPortal(<Held kind={kind} at={at} />, document.body)}
    </button>
  )
}

/** The dragged entry under the finger. */
const Held = ({ kind, at }: { kind: Kind; at: Point }) => (
  <span
    aria-hidden
    className="pointer-events-none fixed z-50 flex max-w-52 -translate-x-1/2 -translate-y-1/2 items-center gap-2 rounded-md border border-accent bg-surface px-2 py-1 shadow-raised"
    style={{ left: at.x, top: at.y }}
  >
    <KindTile kind={kind} />
    <span className="truncate">{kind.title}</span>
  </span>
)
