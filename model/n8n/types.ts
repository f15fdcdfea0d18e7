import type { Definition, JsonObject } from '../definition.ts'
import type { Kinds } from '../graph.ts'

/** The parts of an n8n workflow that the conversion reads. */
export type N8nNode = {
  name: string
  type: string
  version: number
  parameters: JsonObject
  position: [number, number]
  disabled: boolean
  settings: JsonObject
  /** The node is a tool that callers use: expressions read the values that the caller filled in. */
  isTool?: boolean
  /** Names of credentials by kind. */
  credentials: Record<string, string>
}
export type N8nEdge = { from: string; port: number; to: string; slot: number; kind: string }
export type N8nWorkflow = { name: string; nodes: N8nNode[]; edges: N8nEdge[] }

export type Outcome = 'converted' | 'remark' | 'by_hand'
export type ReportLine = { node: string; type: string; outcome: Outcome; why: string }

/** A credential that must be created and set in the nodes at `paths`, which point to their arguments. */
export type CredentialWanted = { name: string; kind: string; paths: string[] }
/** A trigger of the workflow that must be set up separately from the definition. */
export type TriggerWanted = { kind: string; node: string; about: string; settings: JsonObject }

/** Services and the schemas of their actions' arguments. */
export type Catalogue = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>
export type ConvertOptions = { kinds: Kinds; services: Catalogue }

export type Converted = {
  name: string
  definition: Definition
  notes: string[]
  credentials: CredentialWanted[]
  triggers: TriggerWanted[]
  report: ReportLine[]
}

/** The text is not an n8n workflow. */
export class ImportFailure extends Error {}
