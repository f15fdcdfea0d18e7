import type { FindAccessLevel } from '#platform/access/check'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import type { Role } from './schema.ts'
import * as store from './store.ts'

// Who may see a job. A pinned job: only the members of its workflow. A standalone job, or one whose workflow was
// deleted: its own members. For everyone else the job does not exist.

/** Returns the caller's role from `roles_in_jobs`. Sockets use the same function. */
export async function roleInJob(tx: Tx, workspaceId: string, userId: string, jobId: string): Promise<Role | undefined> {
  const { role } = await tx.row<{ role: Role | '' | null }>(
    'select role from roles_in_jobs(array[$1::uuid], array[$2::uuid], array[$3::uuid])',
    [userId, workspaceId, jobId],
  )
  return role === null || role === '' ? undefined : role
}

export const accessLevelInJob: FindAccessLevel = async (ctx, jobId) =>
  ctx.maybeWorkspace === null ? undefined : roleInJob(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, jobId)

/** For deletion: the owner of the job or of the workspace is allowed, even if the job is hidden from that person. */
export const accessLevelInOwnedJob: FindAccessLevel = async (ctx, jobId) => {
  if (ctx.maybeWorkspace === null) return undefined
  const owned = await store.findOwnRole(ctx.tx, ctx.workspace.workspace_id, jobId, ctx.person.user_id)
  if (owned === undefined) return undefined
  if (owned.role === 'owner' || ctx.workspace.role === 'owner') return 'owner'
  return accessLevelInJob(ctx, jobId)
}

/** For executions of a standalone job. `triggerId` is the wire id of the job. */
export const accessLevelThroughJob: FindAccessLevel = async (ctx, triggerId) => {
  const jobId = fromWire('job', triggerId)
  return jobId === undefined ? undefined : accessLevelInJob(ctx, jobId)
}
