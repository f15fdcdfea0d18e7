import type { Json } from '#model/definition'
import { diffJson } from '#model/json-diff'
import { problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { SuiteCase } from './schema.ts'
import * as store from './store.ts'

const MAX_CHANGES = 200
const MAX_POSITION = 2 ** 31 - 1

export type CaseInput = { suite_id: string; run_id: string; position: string; compare?: string | undefined }
type Side = SuiteCase['run']

export async function getSuiteCase(ctx: Context, input: CaseInput): Promise<SuiteCase> {
  const { suite_id, compare } = input
  const position = /^\d{1,10}$/.test(input.position) ? Number(input.position) : Number.NaN
  if (!(position <= MAX_POSITION)) throw problem('not_found')
  const found = await findSide(ctx, { suite_id, run_id: input.run_id, position })
  if (!found) throw problem('not_found')
  const other = compare === undefined ? undefined : await findSide(ctx, { suite_id, run_id: compare, position })
  if (compare !== undefined && !other) throw unknownReference('/compare')
  return {
    suite_id,
    position,
    run: found,
    compared: other ?? null,
    changes: other ? diffJson(other.actual as Json, found.actual as Json, MAX_CHANGES) : [],
  }
}

async function findSide(
  ctx: Context,
  { suite_id, run_id, position }: { suite_id: string; run_id: string; position: number },
): Promise<Side | undefined> {
  const { workspace_id } = ctx.workspace
  const run = await store.findRun(ctx.tx, workspace_id, suite_id, run_id)
  const found = run && (await store.findOutcome(ctx.tx, workspace_id, run_id, position))
  if (!run || !found) return undefined
  const { position: _position, ...outcome } = found
  return { run_id, version_id: run.version_id, ...outcome }
}
