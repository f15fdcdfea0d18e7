import { join } from 'node:path'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { OutgoingCredential, PlaceholderCredential } from '#platform/outgoing/credential'
import type { RecordExchange, RecordedExchange } from '#platform/wall/egress'
import type { Wall } from '#platform/wall/wall'
import {
  type PieceAnswer,
  type PieceCredential,
  type PieceError,
  PieceFailure,
  type PieceFile,
  type PiecePackage,
  type PieceRequest,
} from './index.ts'
import { receivesSecret, transportOf } from './secret-pieces.ts'
import type { PieceSource } from './source.ts'

// Calls pieces behind the wall. A warm process serves one piece of one workspace, with one credential.

const ENTRY = join(import.meta.dirname, 'inside/child-main.ts')

export type PieceCall = {
  workspaceId: string
  piece: PiecePackage
  /** `piece.` and the name of the piece: a credential that was stored for another service is refused. */
  service: string
  request: PieceRequest
  credential: OutgoingCredential | undefined
  /** Identifies the credential, so that a process never uses data cached for one credential with another. */
  credentialKey?: string | undefined
  signal: AbortSignal
  timeoutMs?: number
  /**
   * `witness` is notified of each response of the vendor. `replay` contains responses that the piece gets instead of
   * sending requests.
   */
  witness?: RecordExchange | undefined
  replay?: readonly RecordedExchange[] | undefined
}

export type PieceRunner = {
  /** Throws PieceFailure if the piece is not available, and WallFailure. */
  call(call: PieceCall): Promise<PieceAnswer>
}

export function makePieceRunner({ wall, source }: { wall: Pick<Wall, 'call'>; source: PieceSource }): PieceRunner {
  return {
    async call(call) {
      const { workspaceId, piece, service, request, credential, credentialKey = '', signal, timeoutMs } = call
      const folder = await source.folderOf({ workspaceId, signal }, piece)
      const { part, ...rest } = request
      const veiled = credential && veilOf(credential, service)
      const { answer, sent, refused, invented } = await wall.call({
        workspaceId,
        key: credentialKey,
        program: { entry: ENTRY, code: folder, transport: transportOf(piece.name) },
        request: { ...rest, name: part, auth: veiled && authOf(piece, veiled) },
        credential: veiled?.credential,
        signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
        witness: call.witness,
        replay: call.replay,
      })
      return { ...readAnswer(answer), sent, refused, invented }
    },
  }
}

function veilOf(credential: OutgoingCredential, service: string): PlaceholderCredential {
  const veiled = credential.veiled?.()
  if (!veiled) throw new PieceFailure(`the credential "${credential.name}" cannot be used with a piece`)
  if (veiled.kind === 'piece' && veiled.config.service !== service)
    throw new PieceFailure(`the credential "${credential.name}" is for ${String(veiled.config.service)}`)
  return veiled
}

const textsOf = (values: unknown): Record<string, string> =>
  isObject(values as Json)
    ? Object.fromEntries(Object.entries(values as JsonObject).map(([name, value]) => [name, String(value)]))
    : {}

/** Returns the credential in the format of pieces. */
export function authOf({ name }: PiecePackage, veiled: PlaceholderCredential): PieceCredential {
  const { kind, config } = veiled
  const given = receivesSecret(name) ? veiled.reveal() : veiled.placeholders
  switch (kind) {
    case 'piece':
      return { type: String(config.auth ?? 'CUSTOM_AUTH'), values: { ...textsOf(config.values), ...given } }
    case 'oauth2_client':
    case 'oauth2_code':
      return { type: 'OAUTH2', values: { access_token: given.access_token ?? '' } }
    case 'basic':
      return { type: 'BASIC_AUTH', values: { username: String(config.username), password: given.password ?? '' } }
    case 'bearer':
      return { type: 'SECRET_TEXT', values: { value: given.token ?? '' } }
    case 'header':
    case 'query':
      return { type: 'SECRET_TEXT', values: { value: given.value ?? '' } }
    default:
      return { type: 'CUSTOM_AUTH', values: given }
  }
}

const isFile = (value: Json): value is PieceFile =>
  isObject(value) && typeof value.name === 'string' && typeof value.base64 === 'string'

const isText = (value: Json | undefined): value is string => typeof value === 'string'

function readAnswer(answer: JsonObject): Pick<PieceAnswer, 'result' | 'written'> {
  const written = isObject(answer.written) ? answer.written : {}
  if (answer.ok === true) {
    const files = (Array.isArray(answer.files) ? answer.files : []).filter(isFile)
    return { result: { output: answer.output ?? null, files }, written }
  }
  const reported = isObject(answer.error) ? answer.error : {}
  const error: PieceError = {
    message: isText(reported.message) ? reported.message.slice(0, 1_000) : 'the piece gave no reason',
    status: typeof reported.status === 'number' ? reported.status : undefined,
    body: isText(reported.body) && reported.body !== 'null' ? reported.body.slice(0, 1_000) : undefined,
  }
  return { result: { error }, written }
}
