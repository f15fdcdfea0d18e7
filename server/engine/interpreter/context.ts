import type { Graph, Json, JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import type { Held } from './held.ts'

/** What stays the same for as long as a graph is executed. */
export type Context = {
  graph: Graph
  input: Json
  /** What expressions see as `execution`. */
  execution: JsonObject
  /** What expressions see as `vars`. */
  vars?: JsonObject | undefined
  /** Gives each node's retries their own, repeatable jitter. */
  seed: string
  effectOf(type: string, args?: JsonObject): Effect
  /** What expressions see as `callbacks`: the address of each `wait.event` node of this graph; absent where it has none. */
  callbacks?: Record<string, { url: string }>
  callbackUrl?(nodePath: string): string
  /** Inside a map: the item and its index. */
  item?: Json
  index?: number
  /** Inside a loop: what the turn before gave, and how many turns there were before this one. */
  loop?: { state: Json; turn: number }
  /** Inside a body: what the surrounding graph's nodes gave. */
  outer?: Record<string, { output: Json }>
  /** What the other graphs of the execution hold: items of a map, and what is around them. */
  elsewhere?(): Held
}

export type EdgeState = 'open' | 'taken' | 'dead' | { failed: unknown }
