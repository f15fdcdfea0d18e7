import { portsOf } from '#model/graph-edges'
import type { Flow } from './canvas/graph-canvas.tsx'
import { placeAfter } from './canvas/navigate.ts'
import { sizeOfNode } from './canvas/size.ts'
import { copyText, pasteClip, readClip } from './document/clipboard.ts'
import {
  addNode,
  changeNode,
  connect,
  freePort,
  insertIntoEdge,
  type NodePort,
  refuseConnection,
  setPositions,
} from './document/commands.ts'
import { type Point, positionKey } from './document/document.ts'
import { withFirstList } from './document/first-list.ts'
import { addNote } from './document/notes.ts'
import { sizesIn } from './document/open.ts'
import type { Kind } from './kinds.ts'
import type { EditorStore } from './store.ts'

// Actions that are available by mouse, keys and menus.

export const placeOf = (store: EditorStore) => {
  const { path } = store.get()
  const { positions } = store.doc().layout
  return (id: string): Point => positions[positionKey(path, id)] ?? { x: 0, y: 0 }
}

const onlyOne = (ids: ReadonlySet<string>): string | undefined => (ids.size === 1 ? [...ids][0] : undefined)

/** Adds a node at a point, into the selected edge, or after the selected node. */
export function add(
  store: EditorStore,
  kind: Kind,
  wish: { at?: Point | undefined; after?: NodePort | undefined } = {},
): string | undefined {
  if (store.get().readOnly) return undefined
  const { selection, path } = store.get()
  const graph = store.graph()
  const edge = onlyOne(selection.edges)
  const before = graph.nodes.find(({ id }) => id === onlyOne(selection.nodes))
  const port = before && freePort(graph, before, store.kinds.table.get(before.type))
  const after = wish.after ?? (wish.at || !before || port === undefined ? undefined : { node: before.id, port })
  let added: string | undefined
  store.change((doc) => {
    const split =
      wish.at === undefined && wish.after === undefined ? graph.edges.find(({ id }) => id === edge) : undefined
    const from = split?.from.node ?? after?.node
    const at = wish.at ?? placeAfter(graph, placeOf(store), from)
    const begun = withFirstList(kind, doc, path, from, store.kinds.table, store.get().execution)
    const { doc: next, id } = addNode(doc, path, begun, at, after)
    added = id
    if (!split) return next
    const node = { id, type: kind.type, args: kind.defaults }
    return insertIntoEdge(next, path, split.id, id, freePort({ nodes: [], edges: [] }, node, kind))
  })
  if (added !== undefined) store.select([added])
  return added
}

/** Connects two nodes. Returns null on success, otherwise the reason for refusing. */
export function join(store: EditorStore, from: NodePort, to: string): string | null {
  const refused = refuseConnection(store.graph(), from, to)
  if (refused === null) store.change((doc) => connect(doc, store.get().path, from, to))
  return refused
}

export const copy = (store: EditorStore): string | null =>
  copyText(store.doc(), store.get().path, store.get().selection.nodes)

export function paste(store: EditorStore, text: string, at?: Point): boolean {
  const clip = readClip(text)
  if (!clip || store.get().readOnly) return false
  let ids: string[] = []
  store.change((doc) => {
    const pasted = pasteClip(doc, store.get().path, clip, at ?? placeAfter(store.graph(), placeOf(store), undefined))
    ids = pasted.ids
    return pasted.doc
  })
  store.select(ids)
  return true
}

export function duplicate(store: EditorStore): void {
  const text = copy(store)
  const places = [...store.get().selection.nodes].map(placeOf(store))
  if (text === null) return
  const middle = (key: 'x' | 'y'): number => places.reduce((sum, place) => sum + place[key], 0) / places.length
  paste(store, text, { x: middle('x') + 40, y: middle('y') + 120 })
}

export async function arrangeAll(store: EditorStore): Promise<void> {
  const { arrange } = await import('./document/arrange.ts')
  const graph = store.graph()
  const places = arrange(graph, sizesIn(graph, store.kinds.table))
  store.change((doc) => setPositions(doc, store.get().path, places))
}

export function nudge(store: EditorStore, dx: number, dy: number): void {
  const place = placeOf(store)
  const moved = Object.fromEntries(
    [...store.get().selection.nodes].map((id) => [id, { x: place(id).x + dx, y: place(id).y + dy }]),
  )
  store.change((doc) => setPositions(doc, store.get().path, moved), 'nudge')
}

/** Returns the middle of a node on the canvas. */
export function middleOf(store: EditorStore, id: string): Point {
  const node = store.graph().nodes.find((candidate) => candidate.id === id)
  const { x, y } = placeOf(store)(id)
  if (!node) return { x, y }
  const { width, height } = sizeOfNode(node, store.kinds.table.get(node.type))
  return { x: x + width / 2, y: y + height / 2 }
}

/** Adds a note in the middle of the visible canvas and focuses it. */
export function addNoteInSight(store: EditorStore, flow: Flow | null): void {
  const canvas = document.querySelector('[data-canvas]')?.getBoundingClientRect()
  const at =
    flow && canvas
      ? flow.screenToFlowPosition({ x: canvas.left + canvas.width / 2, y: canvas.top + canvas.height / 3 })
      : { x: 0, y: 0 }
  let added = ''
  store.change((doc) => {
    const { doc: next, id } = addNote(doc, store.get().path, at)
    added = id
    return next
  })
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-note="${added}"] textarea`)?.focus())
}

const nodeOf = (store: EditorStore, id: string) => store.graph().nodes.find((node) => node.id === id)

export const isDisabled = (store: EditorStore, id: string): boolean => nodeOf(store, id)?.disabled === true

/**
 * Checks whether a node can be disabled. A node with several ports decides which port is used, so only nodes with one
 * port can be disabled.
 */
export function mayDisable(store: EditorStore, id: string): boolean {
  const node = nodeOf(store, id)
  const kind = node && store.kinds.table.get(node.type)
  return (
    node !== undefined && kind !== undefined && portsOf(node, kind).every((port) => port === 'out' || port === 'error')
  )
}

/** Disables nodes, or enables them if all of them are disabled. */
export function toggleDisabled(store: EditorStore, ids: readonly string[]): void {
  const able = ids.filter((id) => mayDisable(store, id) || isDisabled(store, id))
  const on = able.length > 0 && able.every((id) => isDisabled(store, id))
  store.change((doc) =>
    able.reduce(
      (next, id) =>
        changeNode(next, store.get().path, id, store.kinds.table, ({ disabled: _old, ...node }) =>
          on ? node : { ...node, disabled: true },
        ),
      doc,
    ),
  )
}
