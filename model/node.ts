import type { JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'

export type JsonSchema = JsonObject

/** The effect of repeating a node after a crash in the middle of an attempt, as the node declares it. */
export type Effect = 'pure' | 'idempotent' | 'at_most_once'

/** The data of the registry and the editor about a kind of node. */
export type NodeDescriptor = {
  type: string
  kind: 'tool' | 'capability' | 'agent'
  /** The heading of the palette under which the editor shows the node. */
  group: 'control' | 'people' | 'tools' | 'data' | 'language' | 'agents' | 'messages' | 'services'
  title: string
  description: string
  icon: string
  colour: string
  keywords: string[]
  args_schema: JsonSchema
  output_schema: JsonSchema
  /** The named outputs; most nodes have only `out`. A `branch` adds the ports of its cases. */
  ports: string[]
  effect: Effect
  /** The node uses a model or starts executions that may: jobs then add up the usage of each execution. */
  metered?: boolean
  /** The initial arguments of a node that a user adds to the canvas. */
  defaults: JsonObject
  /**
   * Checks rules that the schema cannot express, if one argument decides what another may be. Not available in the
   * browser.
   */
  checkArgs?(args: JsonObject, path: string): Issue[]
}
