import { keepTest } from '#areas/credentials/test-call'
import { NodeFailure } from '#engine/node'
import { asNodeFailure } from '#engine/services/call-piece'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { invalid, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { objectSchema } from '#providers/services/pieces/forms'
import type { PieceAnswer, PiecePackage, PieceRequest } from '#providers/services/pieces/index'
import type { PieceRunner } from '#providers/services/pieces/runner'
import * as store from './import-store.ts'
import { type OpenFor, openForCaller } from './open-credential.ts'
import type { OptionsAnswer, OptionsRequest, ServiceTest } from './schema.ts'

// Requests to a piece while a form is filled in: the options of a field, and whether a credential works.

const ANSWER_WITHIN = 30 * SECOND
const MAX_OPTIONS = 500

type Parts = { pieces: PieceRunner; openFor: OpenFor }
type Asked = { service: string; credentialId: string | undefined; request: PieceRequest }

/** Returns the package of an imported piece. */
export async function requirePiece(ctx: Context, { service }: { service: string }): Promise<PiecePackage> {
  const { workspace_id } = ctx.workspace
  const row = await ctx.db.tenant(scopeOf(ctx), (tx) => store.findImported(tx, workspace_id, service))
  if (row?.kind !== 'piece' || !row.package) throw problem('not_found')
  return row.package
}

async function ask(
  { pieces, openFor }: Parts,
  ctx: Context,
  { service, credentialId, request }: Asked,
): Promise<PieceAnswer> {
  const piece = await requirePiece(ctx, { service })
  const credential = credentialId === undefined ? undefined : await openForCaller(openFor, ctx, credentialId)
  try {
    return await pieces.call({
      workspaceId: ctx.workspace.workspace_id,
      piece,
      service,
      request,
      credential,
      credentialKey: credentialId,
      signal: ctx.stepAside(),
      timeoutMs: ANSWER_WITHIN,
    })
  } catch (error) {
    const failure = asNodeFailure(error, 'read')
    if (!(failure instanceof NodeFailure)) throw error
    throw problem('probe_failed', failure.message)
  }
}

export async function listPieceOptions(
  parts: Parts,
  ctx: Context,
  { service, options, args, credential_id }: { service: string } & OptionsRequest,
): Promise<OptionsAnswer> {
  const [, part, prop] = /^(.+)\.([^.]+)$/.exec(options) ?? []
  if (part === undefined || prop === undefined)
    throw invalid([{ path: '/options', message: 'names an action and a field, as `x-options` does' }])
  const request: PieceRequest = { do: 'options', part, prop, args: (args ?? {}) as JsonObject }
  const { result, refused } = await ask(parts, ctx, { service, credentialId: credential_id, request })
  if ('error' in result) throw problem('probe_failed', refused[0]?.message ?? result.error.message)
  return choicesOf(result.output, part)
}

/** Returns options, or the fields of an object that depends on earlier choices. */
function choicesOf(output: Json, part: string): OptionsAnswer {
  if (!isObject(output)) return { options: [], more: false }
  if (!Array.isArray(output.options)) return { options: [], more: false, args_schema: objectSchema(output, part) }
  const options = output.options.flatMap((option) =>
    isObject(option) && option.value !== undefined
      ? [{ value: option.value, label: String(option.label ?? option.value).slice(0, 200) }]
      : [],
  )
  return { options: options.slice(0, MAX_OPTIONS), more: options.length > MAX_OPTIONS }
}

/** Tests a credential with the piece's own validation, and stores the result as the last test. */
export async function testServiceCredential(
  parts: Parts,
  ctx: Context,
  { service, credential_id }: { service: string; credential_id: string },
): Promise<ServiceTest> {
  const request: PieceRequest = { do: 'validate' }
  const { ok, message } = verdictOf(await ask(parts, ctx, { service, credentialId: credential_id, request }))
  if (ok !== null) await keepTest(ctx, credential_id, { ok, message })
  return { ok, message }
}

function verdictOf({ result, refused }: PieceAnswer): ServiceTest {
  if ('error' in result) return { ok: false, message: refused[0]?.message ?? result.error.message }
  const { valid, error } = isObject(result.output) ? result.output : {}
  if (valid === true) return { ok: true, message: 'The service takes this credential.' }
  if (valid === false)
    return {
      ok: false,
      message: refused[0]?.message ?? (typeof error === 'string' ? error.slice(0, 500) : 'It is not valid.'),
    }
  return { ok: null, message: 'The piece cannot say whether a credential works.' }
}
