import { PIECES } from '#engine/nodes/service-call'
import { hasBadText } from '#engine/text'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { WallFailure } from '#platform/wall/failure'
import type { CompiledDocument } from '#providers/services/openapi/index'
import { formsOf } from '#providers/services/pieces/forms'
import { PieceFailure, type PiecePackage, type PieceTrigger } from '#providers/services/pieces/index'
import type { PieceRunner } from '#providers/services/pieces/runner'
import type { PieceSource } from '#providers/services/pieces/source'

// Imports a piece as a service of the workspace: downloads it, loads it behind the wall, and reads its description.

const LOAD_WITHIN = 60 * SECOND

export type PieceParts = { pieces: PieceRunner; pieceSource: PieceSource }

export type ReadPiece = { document: CompiledDocument; package: PiecePackage; triggers: PieceTrigger[] }

export const pieceService = (name: string): string => PIECES + name.replaceAll('-', '_')

export async function readPiece(
  { pieces, pieceSource }: PieceParts,
  ctx: Context,
  wanted: { name: string; version: string | undefined },
): Promise<ReadPiece> {
  const service = pieceService(wanted.name)
  const caller = { workspaceId: ctx.workspace.workspace_id, signal: ctx.stepAside() }
  try {
    const { folder: _folder, ...piece } = await pieceSource.fetch(caller, wanted.name, wanted.version)
    const { result } = await pieces.call({
      ...caller,
      piece,
      service,
      request: { do: 'describe' },
      credential: undefined,
      timeoutMs: LOAD_WITHIN,
    })
    if ('error' in result || !isObject(result.output))
      throw new PieceFailure(`the piece cannot be loaded${'error' in result ? `: ${result.error.message}` : ''}`)
    return compiled(piece, formsOf(piece.name, service, result.output))
  } catch (error) {
    if (error instanceof PieceFailure) throw invalid([{ path: '/piece', message: error.message }])
    if (error instanceof WallFailure) throw problem('probe_failed', `The piece could not be loaded: ${error.message}.`)
    throw error
  }
}

function compiled(piece: PiecePackage, forms: ReturnType<typeof formsOf>): ReadPiece {
  const { notes } = forms
  const actions: CompiledDocument['actions'] = []
  for (const { name, title, description, effect, part, args_schema } of forms.actions) {
    const head = { name, title, description, effect, method: 'RUN', path: part }
    const text = JSON.stringify({ args_schema, part })
    if (hasBadText(text) || hasBadText(JSON.stringify(head)))
      notes.push({ path: part.slice(0, 100), message: 'it contains characters that are not valid text' })
    else actions.push({ head, text })
  }
  const triggers = forms.triggers.filter((trigger) => !hasBadText(JSON.stringify(trigger)))
  return {
    package: piece,
    triggers,
    document: {
      actions,
      summary: {
        title: forms.title,
        description: forms.description,
        version: piece.version,
        base_url: null,
        reference: null,
        auth: forms.auth.filter((auth) => !hasBadText(JSON.stringify(auth))),
        credential_required: forms.credential_required,
        notes: notes.slice(0, 50),
        skipped: notes.length,
      },
    },
  }
}
