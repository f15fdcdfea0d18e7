import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Doc, GraphPath, Point } from './document.ts'
import { unusedName } from './document.ts'

// Notes on the canvas: text beside the graph, stored in the layout of a definition. They have no effect on an
// execution. A group is a note around nodes: its text is their name, and the nodes inside move with it.

export type Note = {
  id: string
  path: GraphPath
  x: number
  y: number
  width: number
  height: number
  text: string
  group?: true
}

const SIZE = { width: 220, height: 120 }
const MIN_SIDE = 80
const MAX_TEXT = 4_000

const listOf = (doc: Doc): Json[] => (Array.isArray(doc.layout.notes) ? doc.layout.notes : [])

function readNote(value: Json): Note | null {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.text !== 'string') return null
  const number = (given: Json | undefined, otherwise: number): number =>
    typeof given === 'number' && Number.isFinite(given) ? given : otherwise
  return {
    id: value.id,
    path: Array.isArray(value.path) ? value.path.map(String) : [],
    x: number(value.x, 0),
    y: number(value.y, 0),
    width: Math.max(MIN_SIDE, number(value.width, SIZE.width)),
    height: Math.max(MIN_SIDE, number(value.height, SIZE.height)),
    text: value.text,
    ...(value.group === true && { group: true }),
  }
}

const allNotes = (doc: Doc): Note[] => listOf(doc).flatMap((value) => readNote(value) ?? [])

/** Returns the notes of one graph. */
export const notesIn = (doc: Doc, path: GraphPath): Note[] =>
  allNotes(doc).filter((note) => note.path.join('/') === path.join('/'))

const withNotes = (doc: Doc, notes: Note[]): Doc => {
  const { notes: _old, ...layout } = doc.layout
  const kept = notes.map(({ path, ...note }): JsonObject => ({ ...note, ...(path.length > 0 && { path: [...path] }) }))
  return { ...doc, layout: { ...layout, ...(kept.length > 0 && { notes: kept }) } as Doc['layout'] }
}

export function addNote(doc: Doc, path: GraphPath, { x, y }: Point): { doc: Doc; id: string } {
  const notes = allNotes(doc)
  const id = unusedName('note', new Set(notes.map((note) => note.id)))
  const note: Note = { id, path: [...path], x: Math.round(x), y: Math.round(y), ...SIZE, text: '' }
  return { id, doc: withNotes(doc, [...notes, note]) }
}

const AROUND = 28
const HEAD = 34

/** Adds a frame around these positions of nodes. */
export function addGroup(
  doc: Doc,
  path: GraphPath,
  boxes: readonly (Point & { width: number; height: number })[],
): { doc: Doc; id: string } | null {
  if (boxes.length === 0) return null
  const left = Math.min(...boxes.map(({ x }) => x)) - AROUND
  const top = Math.min(...boxes.map(({ y }) => y)) - AROUND - HEAD
  const right = Math.max(...boxes.map(({ x, width }) => x + width)) + AROUND
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + AROUND
  const notes = allNotes(doc)
  const id = unusedName('group', new Set(notes.map((note) => note.id)))
  const [x, y] = [Math.round(left), Math.round(top)]
  const group: Note = {
    id,
    path: [...path],
    x,
    y,
    width: Math.round(right) - x,
    height: Math.round(bottom) - y,
    text: '',
    group: true,
  }
  return { id, doc: withNotes(doc, [...notes, group]) }
}

/** Returns the nodes that are completely inside the group. */
export const insideOf = <Box extends Point & { width: number; height: number }>(
  group: Note,
  boxes: readonly Box[],
): Box[] =>
  boxes.filter(
    ({ x, y, width, height }) =>
      x >= group.x && y >= group.y && x + width <= group.x + group.width && y + height <= group.y + group.height,
  )

export const changeNote = (doc: Doc, id: string, more: Partial<Omit<Note, 'id' | 'path'>>): Doc =>
  withNotes(
    doc,
    allNotes(doc).map((note) =>
      note.id === id
        ? { ...note, ...more, ...(more.text !== undefined && { text: more.text.slice(0, MAX_TEXT) }) }
        : note,
    ),
  )

export const removeNote = (doc: Doc, id: string): Doc =>
  withNotes(
    doc,
    allNotes(doc).filter((note) => note.id !== id),
  )
