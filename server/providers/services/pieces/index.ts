import type { Json, JsonObject } from '#model/definition'
import type { OutgoingFailure } from '#platform/outgoing/failure'
import type { AuthField, AuthHint } from '#providers/services/openapi/index'

// Pieces are packages of the Activepieces project (MIT), each a service with actions and triggers. Their code is never
// part of the program: it is fetched when a workspace first needs it, pinned by its integrity, and runs behind the
// wall.

export class PieceFailure extends Error {}

/** Identifies the code of a piece: the integrity guarantees that a release cannot change. */
export type PiecePackage = { name: string; version: string; integrity: string }

/**
 * A way to authenticate: the kind of credential, the settings that are already known, and the fields that a person
 * fills in.
 */
export type PieceAuth = AuthHint & { fields: AuthField[]; can_test: boolean }

export type PieceTriggerKind = 'polling' | 'webhook'

export type PieceAction = {
  name: string
  title: string
  description: string
  effect: 'read' | 'idempotent' | 'write'
  args_schema: JsonObject
  /** The name in the piece's own code. */
  part: string
}
export type PieceTrigger = Omit<PieceAction, 'effect'> & {
  kind: PieceTriggerKind
  handshake: JsonObject | null
  /**
   * When the registration is renewed, as a cron expression. Absent in pieces that were imported before this field
   * existed.
   */
  renew?: string | null
}

export type PieceForms = {
  title: string
  description: string
  auth: PieceAuth[]
  credential_required: boolean
  actions: PieceAction[]
  triggers: PieceTrigger[]
  /** The parts of the piece that cannot be used here, with the reason. */
  notes: { path: string; message: string }[]
}

/** The credential that a piece receives. The values are placeholders unless the piece must hold the secrets. */
export type PieceCredential = { type: string; values: Record<string, string> }

export type PieceRequest = {
  do: 'describe' | 'run' | 'options' | 'validate' | 'enable' | 'disable' | 'renew' | 'trigger' | 'handshake'
  part?: string
  prop?: string
  args?: JsonObject
  store?: JsonObject
  webhook?: string
  payload?: JsonObject
  search?: string
}

export type PieceFile = { name: string; base64: string }

export type PieceError = { message: string; status: number | undefined; body: string | undefined }

export type PieceAnswer = {
  result: { output: Json; files: PieceFile[] } | { error: PieceError }
  /** The values that the piece wrote to its store; null deletes a value. */
  written: JsonObject
  /** The number of requests that were sent, and the requests that were refused. */
  sent: number
  refused: readonly OutgoingFailure[]
  /** Random names that the piece generated during a replay, mapped to the names of the first attempt. */
  invented: ReadonlyMap<string, string>
}
