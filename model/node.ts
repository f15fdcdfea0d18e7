import type { JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'

export type JsonSchema = JsonObject

/** How a node declares what repeating it would do after a crash in the middle of an attempt. */
export type Effect = 'pure' | 'idempotent' | 'at_most_once'

/** What the registry and the editor know about a kind of node. */
export type NodeDescriptor = {
  type: string
  kind: 'tool' | 'capability' | 'agent'
  /** Heading of the palette under which the editor shows it. */
  group: 'control' | 'people' | 'tools' | 'data' | 'language' | 'agents' | 'messages' | 'services'
  title: string
  description: string
  icon: string
  colour: string
  keywords: string[]
  args_schema: JsonSchema
  output_schema: JsonSchema
  /** Named ways out; most have only `out`. A `branch` adds those its cases name. */
  ports: string[]
  effect: Effect
  /** What it does is counted by a model, or by what it starts: jobs then add up the usage of each run. */
  metered?: boolean
  /** Arguments a freshly dropped node starts with. */
  defaults: JsonObject
  /** What its schema cannot say, where one argument decides what another may be. Not known in the browser. */
  checkArgs?(args: JsonObject, path: string): Issue[]
}
