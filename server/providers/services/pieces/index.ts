import type { Json, JsonObject } from '#model/definition'
import type { OutgoingFailure } from '#platform/outgoing/failure'
import type { AuthField, AuthHint } from '#providers/services/openapi/index'

// Pieces: packages of the Activepieces project (MIT), each a service with actions and triggers. Their code is never part of the program:
// it is fetched when a workspace first wants it, pinned by its integrity, and runs behind the wall.

export class PieceFailure extends Error {}

/** Which code it is: a release cannot change under its integrity. */
export type PiecePackage = { name: string; version: string; integrity: string }

/** A way to prove who is calling: the kind of credential, what can be filled in already, and what a person fills in. */
export type PieceAuth = AuthHint & { fields: AuthField[]; can_test: boolean }

export type PieceTriggerKind = 'polling' | 'webhook'

export type PieceAction = {
  name: string
  title: string
  description: string
  effect: 'read' | 'idempotent' | 'write'
  args_schema: JsonObject
  /** The name that the piece itself knows. */
  part: string
}
export type PieceTrigger = Omit<PieceAction, 'effect'> & {
  kind: PieceTriggerKind
  handshake: JsonObject | null
  /** When its registration is renewed, as a cron expression. Absent in what was imported before there was such a thing. */
  renew?: string | null
}

export type PieceForms = {
  title: string
  description: string
  auth: PieceAuth[]
  credential_required: boolean
  actions: PieceAction[]
  triggers: PieceTrigger[]
  /** What the piece has and cannot be used here, with the reason. */
  notes: { path: string; message: string }[]
}

/** What a piece is given to prove who is calling; the values are placeholders unless the piece must hold them. */
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
  /** What the piece wrote into its store; null deletes. */
  written: JsonObject
  /** How many requests left, and those that were not let out. */
  sent: number
  refused: readonly OutgoingFailure[]
  /** Names that it made up anew while answers were repeated, and those of the first time. */
  invented: ReadonlyMap<string, string>
}
