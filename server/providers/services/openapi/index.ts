import type { Json, JsonObject } from '#model/definition'

// An OpenAPI document as a service: the output of the compiler, and its limits.

export const MAX_DOCUMENT_BYTES = 24 * 1024 * 1024
export const MAX_OPERATIONS = 3_000
/** The maximum size of all stored data of one document. */
export const MAX_COMPILED_BYTES = 24 * 1024 * 1024
export const MAX_NOTES = 50

export class DocumentFailure extends Error {}

export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject'

export type Parameter = {
  /** The name of the argument that contains the value. */
  arg: string
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  style: ParameterStyle
  explode: boolean
  /** True if the value is sent as JSON text. */
  json?: true
}

export type OperationBody = {
  kind: 'json' | 'form' | 'multipart' | 'raw'
  /** Empty if the file itself has a content type. */
  contentType: string
  /** Names of form fields with nested values: `a[b]=1`. */
  deep?: string[]
}

/** Describes how the arguments of an action become a request. */
export type Operation = { parameters: Parameter[]; body?: OperationBody }

export type CompiledAction = {
  name: string
  title: string
  description: string
  effect: 'read' | 'idempotent' | 'write'
  method: string
  path: string
  base_url?: string
  headers?: Record<string, Json>
  response?: 'text' | 'file'
  args_schema: JsonObject
  operation: Operation
}

/** A way to authenticate according to the document: a kind of credential, and the settings that are already known. */
export type AuthHint = { kind: string; title: string; config: JsonObject; fields?: AuthField[]; can_test?: boolean }

/** For a piece: a field that a person fills in. */
export type AuthField = {
  name: string
  title: string
  description: string
  secret: boolean
  required: boolean
  default?: Json
  options?: { label: string; value: Json }[]
}

export type Note = { path: string; message: string }

export type DocumentSummary = {
  title: string
  description: string
  version: string
  /** Null if the document names no server. */
  base_url: string | null
  reference: string | null
  auth: AuthHint[]
  credential_required: boolean
  notes: Note[]
  /** The number of operations that were left out. `notes` lists the first of them. */
  skipped: number
}

export type CompileOptions = { url?: string; base_url?: string }

export type ActionHead = Pick<CompiledAction, 'name' | 'title' | 'description' | 'effect' | 'method' | 'path'>

/** Actions as text, because code that stores them never needs to parse their schemas. */
export type CompiledDocument = { summary: DocumentSummary; actions: { head: ActionHead; text: string }[] }

export type OpenApiCompiler = {
  /** Throws DocumentFailure. */
  compile(task: {
    workspaceId: string
    bytes: Buffer
    options: CompileOptions
    signal: AbortSignal
  }): Promise<CompiledDocument>
  close(): Promise<void>
}
