import type { JsonObject } from '#model/definition'
import type { Context } from '../interpreter/context.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import type { Pass } from '../interpreter/pass.ts'
import type { GraphState } from '../interpreter/state.ts'

/** A graph being executed: the definition itself, or the body of a map for one item. */
export type Frame = {
  /** Empty for the definition. Inside a map `map-node[index].`, with one such part for each nested map. */
  prefix: string
  context: Context
  state: GraphState
  /** Inside a map: `settled` is called when the item has settled. */
  item?: { index: number; path: string; settled(frame: Frame): void }
  /** The item's row is in the table, so its end must be written even if nothing else changed. */
  written: boolean
  /** Inside a map: the usage of models by the item so far. */
  usage?: JsonObject
  /** A pass that waits for its next slice, and the messages since then, which are applied after the pass. */
  unfinished?: { pass: Pass; meanwhile: GraphMessage[][] }
}

/** Splits a path: `orders[3].check` is node `check` in the frame `orders[3].`. */
export const splitPath = (path: string): { prefix: string; node: string } => {
  const dot = path.lastIndexOf('].')
  return dot < 0 ? { prefix: '', node: path } : { prefix: path.slice(0, dot + 2), node: path.slice(dot + 2) }
}

/** Returns the name of the effect that settles the request of a node because it is due. */
export const settlingOf = (path: string): string => `due:${path}`
