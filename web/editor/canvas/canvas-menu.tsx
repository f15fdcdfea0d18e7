import { Menu as Base } from '@base-ui/react/menu'
import {
  BoxSelect,
  Copy,
  CopyPlus,
  Maximize,
  MessageSquare,
  Network,
  Play,
  Plus,
  Power,
  Spline,
  StickyNote,
  Trash2,
} from 'lucide-react'
import { useContext } from 'react'
import { MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { useSaveKey } from '#web/ui/save-key.ts'
import { arrangeAll, duplicate, isDisabled, mayDisable, toggleDisabled } from '../actions.ts'
import { removeItems } from '../document/commands.ts'
import { addNote } from '../document/notes.ts'
import { TryContext } from '../run/effects.tsx'
import { type EditorStore, useEditor, useEditorStore } from '../store.ts'
import type { RightClick } from './right-click.ts'

type Props = { pressed: RightClick | null; onClose(): void; onFit(): void; onGroup(): void }

export function CanvasMenu({ pressed, onClose, onFit, onGroup }: Props) {
  const onKeyDown = useSaveKey(onClose)
  return (
    <Base.Root open={pressed !== null} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Positioner
          anchor={
            pressed
              ? { getBoundingClientRect: () => DOMRect.fromRect({ ...pressed.screen, width: 0, height: 0 }) }
              : null
          }
          align="start"
          className="z-50 outline-none"
        >
          <Base.Popup
            aria-label="Canvas menu"
            onKeyDown={onKeyDown}
            className="min-w-48 rounded-lg border border-line bg-raised p-1 shadow-raised outline-none"
          >
            {pressed && <Items pressed={pressed} onFit={onFit} onGroup={onGroup} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

function Items({ pressed, onFit, onGroup }: { pressed: RightClick; onFit(): void; onGroup(): void }) {
  const store = useEditorStore()
  const isFixed = useEditor((state) => state.readOnly || state.comparison !== null)
  if (pressed.kind === 'node') return <NodeItems id={pressed.id} isFixed={isFixed} onGroup={onGroup} />
  if (pressed.kind === 'edge' && !isFixed)
    return (
      <>
        <MenuItem icon={Plus} onSelect={() => insertInto(store, pressed.id)}>
          Insert a node here
        </MenuItem>
        <MenuItem icon={Trash2} danger onSelect={() => removeAll(store, [], [pressed.id])}>
          Delete connection
        </MenuItem>
      </>
    )
  return (
    <>
      {!isFixed && (
        <>
          <MenuItem icon={Plus} onSelect={() => store.set({ quick: { mode: 'add', at: pressed.at } })}>
            Add a node here
          </MenuItem>
          <MenuItem
            icon={StickyNote}
            onSelect={() => store.change((doc) => addNote(doc, store.get().path, pressed.at).doc)}
          >
            Add a note
          </MenuItem>
          <MenuItem icon={Network} onSelect={() => void arrangeAll(store).then(onFit)}>
            Tidy up
          </MenuItem>
          <MenuSeparator />
        </>
      )}
      <MenuItem icon={Maximize} onSelect={onFit}>
        Fit to screen
      </MenuItem>
    </>
  )
}

function NodeItems({ id, isFixed, onGroup }: { id: string; isFixed: boolean; onGroup(): void }) {
  const store = useEditorStore()
  const tryPart = useContext(TryContext)
  const isTop = useEditor((state) => state.path.length === 0)
  return (
    <>
      {tryPart && isTop && !isFixed && (
        <>
          <MenuItem icon={Play} onSelect={() => tryPart({ node_id: id })}>
            Run this step
          </MenuItem>
          <MenuItem icon={Play} onSelect={() => tryPart({ until: id })}>
            Run to here
          </MenuItem>
          <MenuSeparator />
        </>
      )}
      {!isFixed && (
        <>
          <MenuItem icon={Spline} onSelect={() => store.set({ quick: { mode: 'connect', from: id } })}>
            Connect to…
          </MenuItem>
          <MenuItem icon={CopyPlus} onSelect={() => duplicate(store)}>
            Duplicate
          </MenuItem>
          <MenuItem icon={BoxSelect} onSelect={onGroup}>
            Group selection
          </MenuItem>
          {mayDisable(store, id) && (
            <MenuItem icon={Power} onSelect={() => toggleDisabled(store, [id])}>
              {isDisabled(store, id) ? 'Enable' : 'Disable'}
            </MenuItem>
          )}
        </>
      )}
      <MenuItem icon={MessageSquare} onSelect={() => store.set({ panel: 'comments', about: id })}>
        Comment…
      </MenuItem>
      <MenuItem icon={Copy} onSelect={() => void navigator.clipboard?.writeText(`nodes.${id}.output`).catch(() => {})}>
        Copy reference
      </MenuItem>
      {!isFixed && (
        <MenuItem icon={Trash2} danger onSelect={() => removeAll(store, [id], [])}>
          Delete
        </MenuItem>
      )}
    </>
  )
}

const removeAll = (store: EditorStore, nodes: string[], edges: string[]): void => {
  store.change((doc) => removeItems(doc, store.get().path, new Set(nodes), new Set(edges)))
  store.set({ focus: '' })
}

/** Opens the list of nodes; the chosen node is inserted into the edge. */
export const insertInto = (store: EditorStore, edgeId: string): void => {
  store.select([], [edgeId])
  store.set({ quick: { mode: 'add' } })
}
