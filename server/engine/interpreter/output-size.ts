import type { Json } from '#model/definition'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { GraphState, NodeState } from './state.ts'

// The size of the outputs of a graph. Outputs are in memory while their execution is, and in the journal unless they
// are in the blob store. The whole journal since the last snapshot is read each time a user views the execution or a
// worker continues it.

/**
 * The maximum size of an output inside an event. A larger output is stored in the blob store before it is journalled.
 */
export const MAX_INLINE_SIZE = 32 * 1024
/**
 * The maximum total size of the outputs in the events of an execution. Beyond it, all but small outputs go to the
 * blob store.
 */
export const MAX_JOURNALLED_SIZE = 512 * 1024
export const SMALL_SIZE = 2 * 1024
/** Outputs up to this size are not counted. A quarter of a million of them fit. */
export const TINY_SIZE = 256
/** The maximum total size of the outputs of an execution, because all of them are in memory while the execution is. */
export const MAX_OUTPUTS_SIZE = 64 * 1024 * 1024

export type OutputSize = { memory: number; journal: number }
export const NO_OUTPUT: OutputSize = { memory: 0, journal: 0 }

/** The cached sizes of outputs. A settled node never changes. */
const sizes = new WeakMap<NodeState, number>()

const sizeOf = (node: NodeState): number => {
  if (node.output === undefined) return 0
  const known = sizes.get(node)
  if (known !== undefined) return known
  const size = jsonSize(node.output, MAX_VALUE_SIZE)
  sizes.set(node, size)
  return size
}

/** Also contains the values that were counted: a value that several nodes pass on is in memory once. */
export type OutputCount = OutputSize & { seen: Set<Json> }

export const countOutput = (held: OutputCount, size: number, value: Json, isJournalled: boolean): void => {
  if (size <= TINY_SIZE) return
  if (isJournalled) held.journal += size
  if (held.seen.has(value)) return
  held.seen.add(value)
  held.memory += size
}

export const measureOutputs = (state: GraphState): OutputCount => {
  const held: OutputCount = { memory: 0, journal: 0, seen: new Set() }
  for (const id in state.nodes) {
    const node = state.nodes[id] as NodeState
    if (node.blob) countOutput(held, node.blob.bytes, node.blob.key, false)
    else if (node.output !== undefined) countOutput(held, sizeOf(node), node.output, true)
  }
  return held
}

const measured = new WeakMap<GraphState, OutputSize>()

/** Returns the total size of several graphs. A state changes only until the pass over it is finished. */
export const measureGraphs = (graphs: Iterable<{ state: GraphState; unfinished?: unknown }>): OutputSize => {
  let memory = 0
  let journal = 0
  for (const { state, unfinished } of graphs) {
    const held = (!unfinished && measured.get(state)) || measureOutputs(state)
    if (!unfinished) measured.set(state, { memory: held.memory, journal: held.journal })
    memory += held.memory
    journal += held.journal
  }
  return { memory, journal }
}

/** Call this after outputs of the state were moved to the blob store. */
export const clearMeasured = (state: GraphState): void => void measured.delete(state)
