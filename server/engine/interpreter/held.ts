import type { Json } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { GraphState, NodeState } from './state.ts'

// What the outputs of a graph take: in memory as long as its execution is there, and in the journal unless they are in the blob
// store. All of the journal since the last snapshot is read whenever somebody looks at the execution or it goes on.

/** What an event holds itself; more goes to the blob store before it is journalled. */
export const MAX_INLINE_SIZE = 32 * 1024
/** What the events of an execution hold together; beyond that all but the small go to the blob store. */
export const MAX_JOURNALLED = 512 * 1024
export const SMALL_SIZE = 2 * 1024
/** Not counted: a quarter of a million of them fit. */
export const TINY_SIZE = 256
/** What all nodes of an execution gave, together: it is in memory as long as the execution is. */
export const MAX_HELD = 64 * 1024 * 1024

export type Held = { memory: number; journal: number }
export const NOTHING_HELD: Held = { memory: 0, journal: 0 }

/** A settled node never changes. */
const sizes = new WeakMap<NodeState, number>()

const sizeOf = (node: NodeState): number => {
  if (node.output === undefined) return 0
  const known = sizes.get(node)
  if (known !== undefined) return known
  const size = jsonSize(node.output, MAX_VALUE_SIZE)
  sizes.set(node, size)
  return size
}

/** Also which values were counted: one that several nodes pass on is in memory once. */
export type Counting = Held & { seen: Set<Json> }

export const count = (held: Counting, size: number, value: Json, isJournalled: boolean): void => {
  if (size <= TINY_SIZE) return
  if (isJournalled) held.journal += size
  if (held.seen.has(value)) return
  held.seen.add(value)
  held.memory += size
}

export const measure = (state: GraphState): Counting => {
  const held: Counting = { memory: 0, journal: 0, seen: new Set() }
  for (const id in state.nodes) {
    const node = state.nodes[id] as NodeState
    if (node.blob) count(held, node.blob.bytes, node.blob.key, false)
    else if (node.output !== undefined) count(held, sizeOf(node), node.output, true)
  }
  return held
}

const measured = new WeakMap<GraphState, Held>()

/** What several graphs hold. A state changes as long as a pass over it is not finished, and then never again. */
export const measureAll = (graphs: Iterable<{ state: GraphState; unfinished?: unknown }>): Held => {
  let memory = 0
  let journal = 0
  for (const { state, unfinished } of graphs) {
    const held = (!unfinished && measured.get(state)) || measure(state)
    if (!unfinished) measured.set(state, { memory: held.memory, journal: held.journal })
    memory += held.memory
    journal += held.journal
  }
  return { memory, journal }
}

/** Outputs of it have gone to the blob store. */
export const forgetMeasure = (state: GraphState): void => void measured.delete(state)
