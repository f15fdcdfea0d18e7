import { type Files, isFileValue, readWhole } from '#engine/files'
import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject, measureJson } from '#model/json'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { WallFailure } from '#platform/wall/failure'
import type { Service, ServiceAction, ServiceEffect } from '#providers/services/manifest'
import { type PieceAnswer, PieceFailure, type PieceFile } from '#providers/services/pieces/index'
import type { PieceCall, PieceRunner } from '#providers/services/pieces/runner'
import { withDefaults } from '#providers/services/request'
import { checkServiceArgs } from './call.ts'

// An action of a piece as a step: its arguments and output with files, and its failures with the same codes as other
// services.

/** Files are held in memory. */
const MAX_FILE_BYTES = 20 * 1024 * 1024
const JSON_LIMITS = { depth: 64, nodes: 1_000_000 }

type PieceDeps = { pieces: PieceRunner; files: Files }
type Run = Pick<NodeCall, 'workspaceId' | 'executionId' | 'effectKey' | 'signal'>
type PieceStep = {
  service: Service
  action: ServiceAction
  args: JsonObject
  credential: OutgoingCredential | undefined
  credentialId: Json | undefined
}

export async function callPieceAction({ pieces, files }: PieceDeps, step: PieceStep, run: Run): Promise<Json> {
  const { service, action } = step
  const args = withDefaults(action, step.args)
  checkServiceArgs(step, args)
  try {
    const answer = await pieces.call({
      workspaceId: run.workspaceId,
      piece: service.piece!,
      service: service.service,
      request: { do: 'run', part: action.part!, args: (await withFiles(files, run, args)) as JsonObject },
      credential: step.credential,
      credentialKey: typeof step.credentialId === 'string' ? step.credentialId : undefined,
      signal: run.signal,
    })
    if ('error' in answer.result) throw failureIn(answer, action.effect)
    const { output, files: made } = answer.result
    requireSmall(output)
    return made.length === 0 ? output : await savedFiles(files, run, output, made)
  } catch (error) {
    throw asNodeFailure(error, action.effect)
  }
}

/** Calls a piece outside a step. Returns its output and what it wrote to its store. Throws NodeFailure. */
export async function askPiece(pieces: PieceRunner, call: PieceCall): Promise<{ output: Json; written: JsonObject }> {
  try {
    const answer = await pieces.call(call)
    if ('error' in answer.result) throw failureIn(answer, 'read')
    requireSmall(answer.result.output)
    return { output: answer.result.output, written: answer.written }
  } catch (error) {
    throw asNodeFailure(error, 'read')
  }
}

/** Replaces each file value by the bytes of the file. A URL stays a URL. */
async function withFiles(files: Files, run: Run, value: Json): Promise<Json> {
  if (isFileValue(value)) {
    const file = await files.open(run, value)
    const base64 = (await readWhole(file, MAX_FILE_BYTES)).toString('base64')
    return { $piece_file: { name: file.name, base64 } }
  }
  if (Array.isArray(value)) return Promise.all(value.map((inner) => withFiles(files, run, inner)))
  if (!isObject(value)) return value
  const pairs = Object.entries(value).map(async ([name, inner]) => [name, await withFiles(files, run, inner)] as const)
  return Object.fromEntries(await Promise.all(pairs))
}

const REFERENCE = /^heddle-file:\/\/(\d+)$/

async function savedFiles(files: Files, run: Run, output: Json, made: PieceFile[]): Promise<Json> {
  const saved = new Map<number, Json>()
  for (const [index, { name, base64 }] of made.entries()) {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from(base64, 'base64')
    }
    const about = {
      key: `${run.effectKey}:file ${index}`,
      name: name.slice(0, 200) || 'file',
      media_type: 'application/octet-stream',
    }
    saved.set(index, (await files.save(run, about, chunks())) as unknown as Json)
  }
  const put = (value: Json): Json => {
    if (typeof value === 'string') return saved.get(Number(REFERENCE.exec(value)?.[1] ?? -1)) ?? value
    if (Array.isArray(value)) return value.map(put)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, put(inner)]))
  }
  return put(output)
}

function requireSmall(output: Json): void {
  if (measureJson(output, JSON_LIMITS) !== 'ok' || jsonSize(output, MAX_VALUE_SIZE) > MAX_VALUE_SIZE)
    throw new NodeFailure('result_too_large', 'the output of the piece is larger than 8 MiB, or nested too deeply', {
      retryable: false,
    })
}

/** Converts the error of the piece to a failure, by the status of the vendor's response if it is known. */
function failureIn({ result, sent, refused }: PieceAnswer, effect: ServiceEffect): NodeFailure {
  const nothingDone = effect === 'read' || sent === 0
  const [first] = refused
  if (first)
    return new NodeFailure(first.code, first.message, { retryable: first.retryable && nothingDone, nothingDone })
  const { message, status, body } =
    'error' in result ? result.error : { message: '', status: undefined, body: undefined }
  const details: JsonObject = { ...(status !== undefined && { status }), ...(body !== undefined && { body }) }
  if (status === 401) return new NodeFailure('credential_rejected', message, { retryable: false, details })
  // The status means that the vendor did nothing.
  if (status === 429) return new NodeFailure('rate_limited', message, { retryable: true, nothingDone: true, details })
  if (status !== undefined && status >= 500)
    return new NodeFailure('service_unavailable', message, { retryable: effect !== 'write', nothingDone, details })
  return new NodeFailure('service_refused', message, { retryable: false, nothingDone, details })
}

const CODES = {
  wall_unavailable: 'wall_unavailable',
  busy: 'service_unavailable',
  timeout: 'timeout',
  output_too_large: 'result_too_large',
  ended: 'piece_ended',
  unreadable: 'piece_ended',
} as const

export function asNodeFailure(error: unknown, effect: ServiceEffect): unknown {
  if (error instanceof PieceFailure)
    return new NodeFailure('piece_unavailable', error.message, { retryable: false, nothingDone: true })
  if (!(error instanceof WallFailure)) return error
  const nothingDone = effect === 'read' || !error.sent
  const mayWorkLater = error.code === 'busy' || (error.code === 'timeout' && effect !== 'write')
  return new NodeFailure(CODES[error.code], error.message, { retryable: mayWorkLater, nothingDone })
}
