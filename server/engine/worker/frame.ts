import type { JsonObject } from '#model/definition'
import type { Context } from '../interpreter/context.ts'
import type { Happening } from '../interpreter/happening.ts'
import type { Pass } from '../interpreter/pass.ts'
import type { GraphState } from '../interpreter/state.ts'

/** A graph being executed: the workflow's own, or the body of a map for one item. */
export type Frame = {
  /** Empty for the workflow's own graph; `map-node[index].` inside a map, nested as deep as the maps are. */
  prefix: string
  context: Context
  state: GraphState
  /** Inside a map: what to tell when the item has settled. */
  item?: { index: number; path: string; settled(frame: Frame): void }
  /** The item's row is in the table, so that its end must be written over it even when nothing else was. */
  written: boolean
  /** Inside a map: what models counted for the item so far. */
  usage?: JsonObject
  /** A pass that waits for its turn to compute, and what happened to the graph since: taken in when the pass is over. */
  unfinished?: { pass: Pass; meanwhile: Happening[][] }
}

/** `orders[3].check` is node `check` in the frame `orders[3].`. */
export const splitPath = (path: string): { prefix: string; node: string } => {
  const dot = path.lastIndexOf('].')
  return dot < 0 ? { prefix: '', node: path } : { prefix: path.slice(0, dot + 2), node: path.slice(dot + 2) }
}
