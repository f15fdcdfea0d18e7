import type { Passages } from '#areas/knowledge/schema'
import type { OpenFor } from '#areas/services/open-credential'
import type { FindImported, FoundCallDeps } from '#engine/nodes/service-call'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Catalogue } from '#providers/services/catalogue'

// The tools that an assistant may have, and the functions that it needs from other areas.

/** `fixed`: arguments of every call that the model never sees. `allowed`: values from which the model must choose. */
export type ToolArguments = { fixed?: JsonObject | undefined; allowed?: Record<string, Json[]> | undefined }

/** A tool as a template names it. Ids are wire ids. */
export type TemplateTool = { description?: string | undefined } & (
  | { workflow_id: string; arguments?: ToolArguments | undefined }
  | { service: string; action: string; credential_id?: string | undefined; arguments?: ToolArguments | undefined }
  | { dataset_id: string; columns?: string[] | undefined; match?: string[] | undefined }
)

/** The source of a statement in an answer. */
export type Citation = {
  n: number
  knowledge_id: string
  document_id: string
  title: string
  url: string | null
  heading: string[]
  from: number
  to: number
  /** The start of the passage. Missing in older answers. */
  quote?: string
}

export type AwaitedExecution = {
  status: string
  results: Json
  results_blob: unknown
  error: { code: string; message: string } | null
  waiting_for: { kind: string }[]
}

export type AgentPorts = {
  searchKnowledge(wanted: {
    workspaceId: string
    knowledgeId: string
    q: string
    limit: number
    signal?: AbortSignal
  }): Promise<Passages>
  mayReadKnowledge(tx: Tx, workspaceId: string, named: string, userId: string): Promise<boolean>
  readRecords(workspaceId: string, datasetId: string): AsyncIterable<{ texts: string[] }>
  findDataset(tx: Tx, workspaceId: string, datasetId: string): Promise<{ name: string } | undefined>
  services: { catalogue: Catalogue; findImported: FindImported; deps: FoundCallDeps; openFor: OpenFor }
  /** Returns once the execution has ended or waits, or after `ms`. */
  waitFor(
    workspaceId: string,
    executionId: string,
    ms: number,
    signal?: AbortSignal,
  ): Promise<AwaitedExecution | undefined>
}
