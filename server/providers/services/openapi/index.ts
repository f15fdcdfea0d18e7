import type { Json, JsonObject } from '#model/definition'

// An OpenAPI document as a service: what the compiler gives, and the limits that it keeps to.

export const MAX_DOCUMENT_BYTES = 24 * 1024 * 1024
export const MAX_OPERATIONS = 3_000
/** Of everything that is kept of one document. */
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
  /** The argument that holds its value. */
  arg: string
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  style: ParameterStyle
  explode: boolean
  /** The value is sent as JSON text. */
  json?: true
}

export type OperationBody = {
  kind: 'json' | 'form' | 'multipart' | 'raw'
  /** Empty where the file itself says what it is. */
  contentType: string
  /** Fields of a form with values inside of values: `a[b]=1`. */
  deep?: string[]
}

/** How the arguments of an action become a request. */
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

/** How a caller proves itself, as the document says: a kind of credential, and what can be filled in already. */
export type AuthHint = { kind: string; title: string; config: JsonObject; fields?: AuthField[]; can_test?: boolean }

/** Of a piece: what a person fills in. */
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
  /** Null where the document names no server. */
  base_url: string | null
  reference: string | null
  auth: AuthHint[]
  credential_required: boolean
  notes: Note[]
  /** How many operations could not be taken; `notes` names the first of them. */
  skipped: number
}

export type CompileOptions = { url?: string; base_url?: string }

export type ActionHead = Pick<CompiledAction, 'name' | 'title' | 'description' | 'effect' | 'method' | 'path'>

/** Actions as text: what holds them never needs to look into their schemas. */
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
