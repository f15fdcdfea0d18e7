import { type KeyboardEvent, type RefObject, useCallback, useEffect } from 'react'
import { isSaveKey } from '#web/ui/save-key.ts'
import { addNoteInSight, arrangeAll, duplicate, nudge, placeOf, toggleDisabled } from './actions.ts'
import { FIT } from './canvas/canvas-controls.tsx'
import { focusInspector, groupSelected, open } from './canvas/editor-canvas.tsx'
import type { Flow } from './canvas/graph-canvas.tsx'
import { type Direction, neighbour } from './canvas/navigate.ts'
import { removeItems } from './document/commands.ts'
import { type Command, commandOf } from './keys.ts'
import { focusRun } from './run/run-bar.tsx'
import type { EditorStore } from './store.ts'

const STEP: Record<Direction, [number, number]> = { left: [-24, 0], right: [24, 0], up: [0, -24], down: [0, 24] }
const FIELDS = 'input,textarea,select,[contenteditable=true],[data-code]'

type Actions = { save(): void; run(): void }

/**
 * Handles keys for everything inside the editor. Dialogs are outside of the editor and have their own keys; only Ctrl S
 * reaches the editor from a dialog (`useSaveKey`), and never the browser. When a focused list is removed, the page has
 * the focus: the editor handles its keys too.
 */
export function useKeys(store: EditorStore, flow: RefObject<Flow | null>, { save, run }: Actions) {
  const handle = useCallback(
    (event: globalThis.KeyboardEvent, target: HTMLElement): void => {
      const typing = target.closest(FIELDS) !== null
      if (event.key === 'Escape' && target.closest('[data-inspector]')) {
        store.set({ focus: only(store) ?? '' })
        return
      }
      const command = commandOf(event, typing)
      if (!command) return
      // A focused button or list handles Enter and the arrow keys; on the canvas the editor handles them.
      const onCanvas = target.closest('[data-canvas]') !== null && target.closest('button,a') === null
      if ((command.do === 'go' || command.do === 'nudge' || command.do === 'inspect') && !onCanvas) return
      event.preventDefault()
      perform(store, flow.current, command, { save, run })
    },
    [store, flow, save, run],
  )
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const isOpen = document.querySelector('[role=dialog],[role=alertdialog],[role=menu]') !== null
      if (event.defaultPrevented) return
      if (event.target === document.body && !isOpen) handle(event, document.body)
      else if (isSaveKey(event)) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [handle])
  return useCallback(
    (event: KeyboardEvent<HTMLElement>): void => {
      const target = event.target as HTMLElement
      if (!event.currentTarget.contains(target) || event.defaultPrevented) return
      handle(event.nativeEvent, target)
    },
    [handle],
  )
}

const only = (store: EditorStore): string | undefined => {
  const { nodes } = store.get().selection
  return nodes.size === 1 ? [...nodes][0] : undefined
}

function perform(store: EditorStore, flow: Flow | null, command: Command, { save, run }: Actions): void {
  const { selection, path, panel, readOnly, comparison } = store.get()
  const fixed = readOnly || comparison !== null
  const one = only(store)
  switch (command.do) {
    case 'quick-add':
      if (!fixed) store.set({ quick: { mode: 'add' } })
      return
    case 'find':
      store.set({ quick: { mode: 'find' } })
      return
    case 'note':
      if (!fixed) addNoteInSight(store, flow)
      return
    case 'group':
      if (!fixed) groupSelected(store, flow)
      return
    case 'comments':
      store.set({ panel: panel === 'comments' ? null : 'comments', about: one ?? null })
      return
    case 'connect':
      if (!fixed && one) store.set({ quick: { mode: 'connect', from: one } })
      return
    case 'delete': {
      const next = one && neighbour(store.graph(), placeOf(store), one, 'left')
      store.change((doc) => removeItems(doc, path, selection.nodes, selection.edges))
      if (!fixed && next) store.select([next])
      store.set({ focus: (!fixed && next) || '' })
      return
    }
    case 'select-all':
      store.select(store.graph().nodes.map(({ id }) => id))
      return
    case 'clear':
      store.set({ focus: '' })
      store.select([])
      return
    case 'undo':
      store.undo()
      return
    case 'redo':
      store.redo()
      return
    case 'duplicate':
      duplicate(store)
      return
    case 'disable':
      if (!fixed) toggleDisabled(store, [...selection.nodes])
      return
    case 'save':
      if (!readOnly) save()
      return
    case 'run':
      run()
      return
    case 'help':
      store.set({ help: true })
      return
    case 'fit':
      void flow?.fitView(FIT)
      return
    case 'zoom-in':
      void flow?.zoomIn({ duration: 120 })
      return
    case 'zoom-out':
      void flow?.zoomOut({ duration: 120 })
      return
    case 'arrange':
      if (!fixed) void arrangeAll(store).then(() => requestAnimationFrame(() => void flow?.fitView(FIT)))
      return
    case 'problems':
      store.set({ panel: panel === 'problems' ? null : 'problems' })
      return
    case 'versions':
      store.set({ panel: panel === 'versions' ? null : 'versions', comparison: null })
      return
    case 'open':
      if (one) open(store, one)
      return
    case 'up':
      if (path.length === 0) return
      store.open(path.slice(0, -1))
      store.select([path.at(-1)!])
      store.set({ focus: path.at(-1)! })
      return
    case 'to-run':
      focusRun()
      return
    case 'inspect':
      focusInspector()
      return
    case 'nudge':
      nudge(store, ...STEP[command.direction])
      return
    case 'go': {
      const from = one ?? store.graph().nodes[0]?.id
      const next = one && from ? neighbour(store.graph(), placeOf(store), from, command.direction) : from
      if (next === undefined) return
      store.select([next])
      store.set({ focus: next })
      return
    }
  }
}
