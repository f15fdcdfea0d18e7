import type { Json } from '#model/definition'
import type { FindAccessLevel } from '#platform/access/check'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { decodeCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId } from '#platform/ids'
import type { NewReplay, Replay, ReplayReport } from './schema.ts'
import * as store from './store.ts'

// Compares a version with past executions of its workflow. A user who may read the workflow may read its executions,
// and therefore its replays.

const MAX_LIVE = 5

type InWorkflow = { workflow_id: string }
type ById = { replay_id: string }

/**
 * The role in a replay is the role in its workflow. Colleagues without a role in the workflow do not find the replay.
 */
export const makeAccessLevelInReplay =
  (accessLevelInWorkflow: FindAccessLevel): FindAccessLevel =>
  async (ctx, replayId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const replay = await store.findReplay(ctx.tx, ctx.workspace.workspace_id, replayId)
    const standing = replay && (await accessLevelInWorkflow(ctx, replay.workflow_id))
    return standing === 'visible' ? undefined : standing
  }

/** For activation. A replay of selected executions or with a filter proves nothing about the others. */
export const findReplayProof = store.findProof

export const hasPastRuns = async (
  tx: Tx,
  { workspaceId, workflowId }: { workspaceId: string; workflowId: string },
): Promise<boolean> =>
  (await store.chooseRuns(tx, workspaceId, workflowId, { ids: null, filter: {}, limit: 1 })).length > 0

/** `wake` starts the runner of this process immediately. Runners of other processes poll every second. */
export type ReplayDependencies = { wake(): void }

/** Refuses an unknown version before the body of the request is checked. */
export async function requireVersion(
  ctx: Context,
  { workflow_id, version_id }: InWorkflow & { version_id: string },
): Promise<void> {
  if (!(await store.hasVersion(ctx.tx, ctx.workspace.workspace_id, workflow_id, version_id))) throw problem('not_found')
}

export async function createReplay(
  deps: ReplayDependencies,
  ctx: Context,
  { workflow_id, version_id, filter, execution_ids, limit }: InWorkflow & { version_id: string } & NewReplay,
): Promise<Replay> {
  await requireVersion(ctx, { workflow_id, version_id })
  const { workspace_id } = ctx.workspace
  if (execution_ids && filter) throw invalid([{ path: '/execution_ids', message: 'cannot be combined with filter' }])
  if ((await store.countLive(ctx.tx, workspace_id)) >= MAX_LIVE)
    throw problem('conflict', `${MAX_LIVE} replays of the workspace are not finished yet. Wait for one, or cancel it.`)
  const ids = execution_ids ? [...new Set(execution_ids)] : null
  const chosen = await store.chooseRuns(ctx.tx, workspace_id, workflow_id, {
    ids,
    filter: filter ?? {},
    limit: ids?.length ?? limit,
  })
  if (ids) refuseUnknown(execution_ids ?? [], new Set(chosen))
  if (chosen.length === 0)
    throw problem('conflict', 'No past run of the workflow matches. Run it first, or widen the filter.')
  const made = await store.insertReplay(ctx.tx, workspace_id, {
    replay_id: newId(),
    workflow_id,
    version_id,
    filter: (ids ? { execution_ids: ids.length } : (filter ?? null)) as unknown as Json,
    wanted: ids?.length ?? limit,
    execution_ids: chosen,
    requested_by: ctx.person.user_id,
  })
  ctx.afterCommit(deps.wake)
  return made
}

/** Refuses executions that cannot be replayed: of another workflow, still running, or a trial. */
function refuseUnknown(asked: string[], found: ReadonlySet<string>): void {
  const unknown = asked.flatMap((id, at) => (found.has(id) ? [] : [`/execution_ids/${at}`]))
  if (unknown.length > 0) throw unknownReference(...unknown.slice(0, 50))
}

export const listReplays = (ctx: Context, { workflow_id, ...asked }: InWorkflow & ListInput) =>
  store.listReplays(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)

async function findReplay(ctx: Context, replayId: string): Promise<Replay> {
  const replay = await store.findReplay(ctx.tx, ctx.workspace.workspace_id, replayId)
  if (!replay) throw problem('not_found')
  return replay
}

export async function getReplay(
  ctx: Context,
  { replay_id, cursor, limit, outcome }: ById & ListQuery & { outcome?: string | undefined },
): Promise<ReplayReport> {
  const replay = await findReplay(ctx, replay_id)
  const key = decodeCursor(cursor, 1)
  if (key && !Number.isInteger(key[0])) throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
  const rows = await store.listResults(ctx.tx, ctx.workspace.workspace_id, replay_id, {
    outcome: outcome ?? null,
    after: (key?.[0] as number | undefined) ?? -1,
    limit,
  })
  return { ...replay, ...toPage(rows, limit, (row) => [row.position]) }
}

export async function cancelReplay(ctx: Context, { replay_id }: ById): Promise<Replay> {
  const cancelled = await store.cancelReplay(ctx.tx, ctx.workspace.workspace_id, replay_id)
  if (cancelled) return cancelled
  await findReplay(ctx, replay_id)
  throw problem('already_finished', 'The replay is over.')
}
