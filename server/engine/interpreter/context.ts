import type { Graph, Json, JsonObject } from '#model/definition'
import type { Effect } from '#model/node'
import type { OutputSize } from './output-size.ts'

/** The values that stay the same while a graph is executed. */
export type Context = {
  graph: Graph
  input: Json
  /** The value of `execution` in expressions. */
  execution: JsonObject
  /** The value of `vars` in expressions. */
  vars?: JsonObject | undefined
  /** Gives the retries of each node their own repeatable jitter. */
  seed: string
  effectOf(type: string, args?: JsonObject): Effect
  /**
   * The value of `callbacks` in expressions: the address of each `wait.event` node of this graph. Absent if the graph
   * has none.
   */
  callbacks?: Record<string, { url: string }>
  callbackUrl?(nodePath: string): string
  /** Inside a map: the item and its index. */
  item?: Json
  index?: number
  /** Inside a loop: the state that the previous iteration returned, and the number of previous iterations. */
  loop?: { state: Json; turn: number }
  /** Inside a body: the outputs of the nodes of the surrounding graph. */
  outer?: Record<string, { output: Json }>
  /** Returns the sizes of the other graphs of the execution: other items of a map, and the surrounding graphs. */
  otherGraphsSize?(): OutputSize
}

export type EdgeState = 'open' | 'taken' | 'dead' | { failed: unknown }
