import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { type Problem, problem, readOnly } from '../errors.ts'
import { etagOf, listsEtag } from './answer.ts'
import type { Context } from './context.ts'
import { toJson } from './render.ts'
import type { AnyRoute } from './route.ts'
import type { Encode } from './schema.ts'

// Checks whether the caller means the current state of the resource, by If-Match and by server-owned fields that were
// sent back.

/** Serializes writers of one resource, so that the state compared with If-Match is the state that is changed. */
export async function checkCurrent(
  route: AnyRoute,
  encodeCurrent: Encode | undefined,
  ctx: Context,
  { request, params, echoed }: { request: FastifyRequest; params: Record<string, string>; echoed: [string, unknown][] },
): Promise<void> {
  if (route.method !== 'GET' && ctx.maybeTx !== null) {
    const lock = createHash('sha1').update(Object.values(params).join('/')).digest()
    await ctx.tx.rows('select pg_advisory_xact_lock($1, $2)', [lock.readInt32BE(0), lock.readInt32BE(4)])
  }
  if (request.headers['if-match'] === undefined && echoed.length === 0) return
  const current = await route.current!(ctx, params as never)
  const encoded = current === undefined ? undefined : toJson(encodeCurrent, current)
  if (!matches(request, encoded)) throw changed()
  const present = JSON.parse(encoded?.toString() ?? '{}') as Record<string, unknown>
  const others = echoed.filter(([field, value]) => !isDeepStrictEqual(present[field], value))
  if (others.length > 0) throw readOnly(others.map(([field]) => field))
}

function matches({ headers }: FastifyRequest, current: Buffer | undefined): boolean {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined || (ifMatch === '*' && current !== undefined)) return true
  return current !== undefined && listsEtag(ifMatch, etagOf(current))
}

export const changed = (): Problem =>
  problem('precondition_failed', 'Read the resource again and repeat the change on its current version.')
