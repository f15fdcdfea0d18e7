import { NodeFailure } from '#engine/node'
import { needsCredential, PIECES } from '#engine/nodes/service-call'
import { callService, type ServiceDeps } from '#engine/services/call'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { UNKNOWN_ID } from '#platform/ids'
import type { Catalogue } from '#providers/services/catalogue'
import { valueAt } from '#providers/services/paths'
import type { PieceRunner } from '#providers/services/pieces/runner'
import { fillValues } from '#providers/services/template'
import { type OpenFor, openForCaller } from './open-credential.ts'
import { listPieceOptions } from './piece-options.ts'
import type { OptionsAnswer, OptionsRequest } from './schema.ts'
import { findService } from './service.ts'

// Reads the options of a field, such as channels, sheets or labels, from the service itself with the caller's
// credential.

const ANSWER_WITHIN = 20 * SECOND
const MAX_OPTIONS = 500

export type OptionParts = { catalogue: Catalogue; deps: ServiceDeps; openFor: OpenFor; pieces: PieceRunner }

const NO_FILES = { base64: async () => '', mime: async () => '' }

export async function listServiceOptions(
  { catalogue, deps, openFor, pieces }: OptionParts,
  ctx: Context,
  input: { service: string } & OptionsRequest,
): Promise<OptionsAnswer> {
  if (input.service.startsWith(PIECES)) return listPieceOptions({ pieces, openFor }, ctx, input)
  const service = findService(catalogue, input.service)
  const options = Object.hasOwn(service.options ?? {}, input.options) ? service.options?.[input.options] : undefined
  const action = options && service.actions.get(options.action)
  if (!options || !action) throw invalid([{ path: '/options', message: `${service.title} has no such choices` }])
  if (input.credential_id === undefined && needsCredential(service))
    throw invalid([{ path: '/credential_id', message: 'is required: choose a credential first' }])
  const given = (input.args ?? {}) as JsonObject
  const own = await fillValues(options.args ?? {}, given, NO_FILES)
  const missing = (action.args_schema.required as string[]).filter((name) => own[name] === undefined)
  if (missing.length > 0)
    throw invalid(
      missing.map((name) => ({ path: `/args/${name}`, message: 'is required before the choices can be listed' })),
    )
  const credential =
    input.credential_id === undefined ? undefined : await openForCaller(openFor, ctx, input.credential_id)
  const args = { ...own, ...(action.paginate && { max_items: MAX_OPTIONS }) }
  const run = {
    workspaceId: ctx.workspace.workspace_id,
    executionId: UNKNOWN_ID,
    effectKey: 'options',
    signal: AbortSignal.any([ctx.stepAside(), AbortSignal.timeout(ANSWER_WITHIN)]),
    step: <T extends Json>(_name: string, work: () => Promise<T>): Promise<T> => work(),
    progress: () => {},
  }
  try {
    return choicesOf(await callService(deps, { service, action, args, credential }, run), options)
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error
    throw problem('probe_failed', error.message)
  }
}

function choicesOf(output: Json, { value, label }: { value: string; label: string }): OptionsAnswer {
  const items = isObject(output) && Array.isArray(output.items) ? output.items : Array.isArray(output) ? output : []
  const choices = items.flatMap((item) => {
    const chosen = valueAt(item, value)
    if (typeof chosen !== 'string' && typeof chosen !== 'number') return []
    return [{ value: chosen, label: String(valueAt(item, label) ?? chosen) }]
  })
  const more = (isObject(output) && output.more === true) || choices.length > MAX_OPTIONS
  return { options: choices.slice(0, MAX_OPTIONS), more }
}
