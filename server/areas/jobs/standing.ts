import type { StandingIn } from '#platform/access/check'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import type { Role } from './schema.ts'
import * as store from './store.ts'

// Who sees a job: of a pinned one the members of its workflow and nobody else; of a standalone one, and of one whose
// workflow was deleted, its own members. For all others there is no such job.

/** The caller's role as `roles_in_jobs` tells it; sockets ask the same function. */
export async function roleInJob(tx: Tx, workspaceId: string, userId: string, jobId: string): Promise<Role | undefined> {
  const { role } = await tx.row<{ role: Role | '' | null }>(
    'select role from roles_in_jobs(array[$1::uuid], array[$2::uuid], array[$3::uuid])',
    [userId, workspaceId, jobId],
  )
  return role === null || role === '' ? undefined : role
}

export const standingInJob: StandingIn = async (ctx, jobId) =>
  ctx.maybeWorkspace === null ? undefined : roleInJob(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, jobId)

/** To delete: the person who owns the job itself or the workspace passes, also where the job is hidden from them. */
export const standingInOwnedJob: StandingIn = async (ctx, jobId) => {
  if (ctx.maybeWorkspace === null) return undefined
  const owned = await store.findOwnRole(ctx.tx, ctx.workspace.workspace_id, jobId, ctx.person.user_id)
  if (owned === undefined) return undefined
  if (owned.role === 'owner' || ctx.workspace.role === 'owner') return 'owner'
  return standingInJob(ctx, jobId)
}

/** For executions that belong to a standalone job: `triggerId` is the job's id on the wire. */
export const standingThroughJob: StandingIn = async (ctx, triggerId) => {
  const jobId = fromWire('job', triggerId)
  return jobId === undefined ? undefined : standingInJob(ctx, jobId)
}
