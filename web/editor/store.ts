import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Effects } from '#model/node-access'
import type { Execution } from '#sdk/types.generated'
import type { NodePort } from './document/commands.ts'
import type { Comparison } from './document/compare.ts'
import {
  type Doc,
  type DocGraph,
  type GraphPath,
  graphAt,
  type KeyedEdge,
  type Point,
  TOP,
} from './document/document.ts'
import { type History, record, redo, startHistory, undo } from './document/history.ts'
import type { Problem } from './document/problems.ts'
import type { Kinds } from './kinds.ts'
import type { Pins } from './run/pins.ts'

// The state of one open editor. The document changes only through `change`, so that every change can be undone.

export type Selection = { nodes: ReadonlySet<string>; edges: ReadonlySet<string> }
export type Base = { version_id: string; number: number; doc: Doc }
export type Panel = 'versions' | 'problems' | 'comments' | null
export type QuickAdd =
  | { mode: 'add'; at?: Point; after?: NodePort }
  | { mode: 'connect'; from: string }
  | { mode: 'find' }
  | null

export type EditorState = {
  history: History<Doc>
  path: GraphPath
  selection: Selection
  /** The version that the document is based on. */
  base: Base | null
  /** The problems found by the check in the browser, and the errors of the service when it refused the document. */
  problems: readonly Problem[]
  refused: readonly Problem[]
  /** The execution whose data is shown. */
  execution: Execution | null
  /** The execution that was shown before, for comparison. */
  previous: Execution | null
  /** The outputs that the user has pinned, by step, and how a test run treats effects. */
  pins: Pins
  effects: Effects
  comparison: (Comparison & { title: string }) | null
  panel: Panel
  /** The node whose comments are shown; null: all comments. */
  about: string | null
  quick: QuickAdd
  help: boolean
  readOnly: boolean
  /** Whether the document has changes that are not saved in a version. */
  dirty: boolean
  /** The node to focus next; an empty text is the canvas itself. */
  focus: string | null
}

export const NOTHING: Selection = { nodes: new Set(), edges: new Set() }

export type EditorStore = ReturnType<typeof makeEditorStore>

export function makeEditorStore(options: {
  doc: Doc
  base: Base | null
  kinds: Kinds
  readOnly: boolean
  /** Pins and samples are stored under this id. */
  workflowId?: string
  pins?: Pins
  effects?: Effects
  clock?: () => number
}) {
  const clock = options.clock ?? (() => performance.now())
  let state: EditorState = {
    history: startHistory(options.doc),
    path: TOP,
    selection: NOTHING,
    base: options.base,
    problems: [],
    refused: [],
    execution: null,
    previous: null,
    pins: options.pins ?? {},
    effects: options.effects ?? 'live',
    comparison: null,
    panel: null,
    about: null,
    quick: null,
    help: false,
    readOnly: options.readOnly,
    dirty: options.base?.doc !== options.doc,
    focus: null,
  }
  const listeners = new Set<() => void>()
  const set = (more: Partial<EditorState>): void => {
    state = { ...state, ...more }
    for (const notify of listeners) notify()
  }
  /** Leaves a map and clears a selection that no longer exist after an undo. */
  const settle = (history: History<Doc>): Partial<EditorState> => {
    let path = state.path
    while (!graphAt(history.present, path)) path = path.slice(0, -1)
    return {
      history,
      path,
      selection: path === state.path ? present(graphAt(history.present, path)!, state.selection) : NOTHING,
    }
  }
  const step = (history: History<Doc>): void => {
    if (!state.readOnly && !state.comparison) set({ ...settle(history), dirty: history.present !== state.base?.doc })
  }
  return {
    kinds: options.kinds,
    workflowId: options.workflowId ?? '',
    get: (): EditorState => state,
    set,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    doc: (): Doc => state.history.present,
    graph: (): DocGraph => graphAt(state.history.present, state.path) ?? { nodes: [], edges: [] },

    /** Changes the document. `about` names a field, so that typing in it is one undo step. */
    change(edit: (doc: Doc) => Doc, about?: string): void {
      if (state.readOnly || state.comparison) return
      const history = record(state.history, edit(state.history.present), clock(), about)
      if (history !== state.history)
        set({ ...settle(history), refused: [], dirty: history.present !== state.base?.doc })
    },
    undo: (): void => step(undo(state.history)),
    redo: (): void => step(redo(state.history)),

    /** Replaces the whole document: a version is loaded into the editor. The change can be undone. */
    replace(doc: Doc, base: Base | null): void {
      set({ ...settle(record(state.history, doc, clock())), base, refused: [], dirty: doc !== base?.doc })
    },
    /** Records that the sent document is now a version; later changes are still unsaved. */
    saved(base: Base): void {
      set({ base, refused: [], dirty: state.history.present !== base.doc })
    },

    select: (nodes: Iterable<string>, edges: Iterable<string> = []): void =>
      set({ selection: { nodes: new Set(nodes), edges: new Set(edges) } }),
    open: (path: GraphPath): void => set({ path, selection: NOTHING }),
  }
}

function present(graph: DocGraph, { nodes, edges }: Selection): Selection {
  const ids = new Set(graph.nodes.map((node) => node.id))
  const edgeIds = new Set(graph.edges.map((edge: KeyedEdge) => edge.id))
  const kept = { nodes: [...nodes].filter((id) => ids.has(id)), edges: [...edges].filter((id) => edgeIds.has(id)) }
  if (kept.nodes.length === nodes.size && kept.edges.length === edges.size) return { nodes, edges }
  return { nodes: new Set(kept.nodes), edges: new Set(kept.edges) }
}

const Context = createContext<EditorStore | null>(null)
export const EditorProvider = Context.Provider

export function useEditorStore(): EditorStore {
  const store = useContext(Context)
  if (!store) throw new Error('useEditorStore outside the editor')
  return store
}

/** Renders again only when the selected value changes; select existing values, do not create new objects. */
export function useEditor<Picked>(pick: (state: EditorState) => Picked): Picked {
  const store = useEditorStore()
  return useSyncExternalStore(store.subscribe, () => pick(store.get()))
}

export const useDoc = (): Doc => useEditor((state) => state.history.present)
export const useGraph = (): DocGraph => useEditor((state) => graphAt(state.history.present, state.path) ?? EMPTY)
const EMPTY: DocGraph = { nodes: [], edges: [] }
