import type { ExecutionStatus, Json } from '#model/definition'
import { isObject } from '#model/json'

// Executions are found by the words in their input, results and error, and by fields of their input. The index contains
// hashes of these. A hash collision costs one read of an execution and never shows a wrong result.

const WORD = /[\p{L}\p{N}]+/gu
const MAX_TERMS = 1_000
/** The maximum number of characters that are split into words. */
const MAX_TEXT = 32 * 1024
const MAX_VALUE = 200

const addText = (hash: number, text: string): number => {
  let state = hash
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193)
  return state
}

/** Distributes the low bits of an FNV hash over all bits, because blocks are paged by the high bits. */
const spread = (hash: number): number => {
  let state = hash ^ (hash >>> 16)
  state = Math.imul(state, 0x85ebca6b)
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
  return (state ^ (state >>> 16)) >>> 0
}

const beginOf = (kind: string): number => addText(0x811c9dc5, `${kind} `)
const WORDS = beginOf('word')
const FIELDS = beginOf('field')
const VERSIONS = beginOf('version')
const WORKFLOWS = beginOf('workflow')
const STATUSES = beginOf('status')

/** Returns a hash of 32 bits. */
export const wordTerm = (word: string): number => spread(addText(WORDS, word))
const fieldTerm = (path: string, value: string): number => spread(addText(addText(FIELDS, `${path}=`), value))

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? []

export type Indexed = {
  workflowId: string | null
  versionId: string | null
  status: string
  input: Json
  results: Json
  error: Json
}

/** Adds the hash of each word of a text, up to a limit, and returns the number of words. */
function addWords(terms: Set<number>, text: string, most: number): number {
  let words = 0
  let hash = WORDS
  let isIn = false
  for (let at = 0; at < text.length; at += 1) {
    let unit = text.charCodeAt(at)
    if (unit > 0x7f) return addAnyWords(terms, text, most)
    if (unit >= 0x41 && unit <= 0x5a) unit |= 0x20
    if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)) {
      hash = Math.imul(hash ^ unit, 0x01000193)
      isIn = true
    } else if (isIn) {
      if (words++ >= most) return words
      terms.add(spread(hash))
      hash = WORDS
      isIn = false
    }
  }
  if (isIn && words++ < most) terms.add(spread(hash))
  return words
}

/** As `addWords`, for texts in any script. `addWords` is several times as fast. */
function addAnyWords(terms: Set<number>, text: string, most: number): number {
  const words = wordsOf(text)
  for (const word of words.slice(0, most)) terms.add(wordTerm(word))
  return words.length
}

/** The remaining capacity for the terms of one execution. */
type Room = { terms: Set<number>; words: number; text: number }

function takeText(room: Room, text: string): void {
  room.text -= text.length
  if (room.text >= 0) room.words -= addWords(room.terms, text, room.words)
}

/** `path` is the hash of the path to this value, or null if the value is not searchable by field. */
function visit(room: Room, value: Json | undefined, path: number | null): void {
  if (room.words <= 0 || room.text <= 0 || value === null || value === undefined) return
  const within = (name: string): number | null =>
    path === null ? null : addText(path === FIELDS ? path : addText(path, '.'), name)
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) visit(room, value[at], within(String(at)))
  } else if (isObject(value)) {
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue
      takeText(room, name)
      visit(room, value[name], within(name))
    }
  } else {
    const written = String(value)
    if (path !== null && written.length <= MAX_VALUE) room.terms.add(spread(addText(addText(path, '='), written)))
    takeText(room, written)
  }
}

export const OPEN: string[] = ['queued', 'running', 'waiting'] satisfies ExecutionStatus[]
export const isOpen = (status: string): boolean => OPEN.includes(status)
/** All unfinished statuses share one term, because the status may change before the search. */
const statusTerm = (status: string): number => spread(addText(STATUSES, isOpen(status) ? 'open' : status))

/** Returns the terms by which an execution is found. */
export function termsOf({ workflowId, versionId, status, input, results, error }: Indexed): Set<number> {
  const terms = new Set<number>()
  terms.add(statusTerm(status))
  if (workflowId !== null) terms.add(spread(addText(WORKFLOWS, workflowId)))
  if (versionId !== null) terms.add(spread(addText(VERSIONS, versionId)))
  const room = { terms, words: MAX_TERMS, text: MAX_TEXT }
  visit(room, input, FIELDS)
  visit(room, results, null)
  visit(room, error, null)
  return terms
}

export type Wanted = {
  q: string | null
  input: { path: string[]; value: string }[]
  versionId: string | null
  workflowId: string | null
  status: string[] | null
}

/** Returns the terms that an execution must contain. Empty if the search has no words, fields or version. */
export function wantedTerms({ q, input, versionId, workflowId, status }: Wanted): number[] {
  const terms = new Set([
    ...(q === null ? [] : wordsOf(q).map(wordTerm)),
    ...input.flatMap(({ path, value }) => (value.length <= MAX_VALUE ? [fieldTerm(path.join('.'), value)] : [])),
    ...(versionId === null ? [] : [spread(addText(VERSIONS, versionId))]),
  ])
  if (terms.size === 0) return []
  if (workflowId !== null) terms.add(spread(addText(WORKFLOWS, workflowId)))
  if (status?.length === 1) terms.add(statusTerm(status[0]!))
  return [...terms]
}
