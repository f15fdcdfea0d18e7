import type { JobHooks } from '#areas/connections/service'
import type { CredentialJobHooks } from '#areas/credentials/job-hooks'
import type { OnAccepted } from '#areas/identity/invitations'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { Definition } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { findUsers, type Missing, type MissingReason, missingIn, USES, valuesOf } from './connections.ts'
import { appendEvent, wakeRunners } from './events.ts'
import { findDefinition } from './executed-store.ts'
import * as members from './members-store.ts'
import { notifyOwners } from './owner-notices.ts'
import type { Role } from './schema.ts'
import * as state from './state-store.ts'
import { lockJob } from './store.ts'

// Reactions of jobs to changes in other areas, in the transactions of these changes.

const WHY: Record<MissingReason, string> = {
  connection_revoked: 'The connection it reads through was revoked. Store a new credential there to resume the job.',
  credential_unusable:
    'A credential it uses was revoked or must be connected again. Store a new secret, or connect it.',
}

type Told = { job_id: string }

async function notifyPaused(tx: Tx, workspaceId: string, jobs: Told[], reason: string, body: string): Promise<void> {
  for (const { job_id } of jobs) {
    await appendEvent(tx, workspaceId, job_id, 'job.paused', { reason })
    await notifyOwners(tx, workspaceId, { job_id, title: 'is paused', body }, 'job.paused', { reason })
  }
}

/**
 * Pauses the jobs and notifies their owners. Returns neither names nor a count, because the caller may not know about
 * all of the jobs.
 */
async function pauseJobs(tx: Tx, workspaceId: string, from: Partial<Missing>, reason: MissingReason): Promise<void> {
  const paused = await tx.rows<Told>(
    `update enrichment_jobs j set status = 'paused', paused_reason = $5, updated_at = now()
     where j.workspace_id = $1 and j.status <> 'paused' and ${USES} returning j.job_id`,
    [workspaceId, ...valuesOf(await findUsers(tx, workspaceId, from)), reason],
  )
  await notifyPaused(tx, workspaceId, paused, reason, WHY[reason])
}

/** Resumes the jobs that are not missing anything else. */
async function resumeJobs(tx: Tx, workspaceId: string): Promise<void> {
  const still = await findUsers(tx, workspaceId, await missingIn(tx, workspaceId))
  const waiting = await tx.rows<{ job_id: string }>(
    `select j.job_id from enrichment_jobs j where j.workspace_id = $1
       and j.paused_reason in ('connection_revoked', 'credential_unusable') and not ${USES} for update of j`,
    [workspaceId, ...valuesOf(still)],
  )
  for (const { job_id } of waiting) await state.resumeJob(tx, workspaceId, job_id)
  await state.freeRuns(
    tx,
    workspaceId,
    waiting.map(({ job_id }) => job_id),
  )
  if (waiting.length > 0) await wakeRunners(tx)
}

export const jobHooks: JobHooks = {
  pauseJobsUsing: (tx, workspaceId, connectionId) =>
    pauseJobs(tx, workspaceId, { connections: [connectionId] }, 'connection_revoked'),
  resumeJobsUsing: resumeJobs,
}

export const credentialJobHooks: CredentialJobHooks = {
  pauseJobsNaming: (tx, workspaceId, credentialId) =>
    pauseJobs(tx, workspaceId, { credentials: [credentialId] }, 'credential_unusable'),
  resumeJobsNaming: resumeJobs,
}

/**
 * Pauses a job that became due although something it needs is missing. The run stays due until the missing part is
 * back.
 */
export async function pauseForMissing(
  tx: Tx,
  workspaceId: string,
  jobId: string,
  reason: MissingReason,
): Promise<void> {
  await state.pauseJob(tx, workspaceId, jobId, reason)
  await notifyPaused(tx, workspaceId, [{ job_id: jobId }], reason, WHY[reason])
}

/** A job that was paused manually is still paused manually after it gets something else to execute. */
export async function pauseJobsOfWorkflow(tx: Tx, workspaceId: string, workflowId: string): Promise<void> {
  const paused = await tx.rows<Told>(
    `update enrichment_jobs set status = 'paused', updated_at = now(),
       paused_reason = case when paused_reason = 'manual' then 'manual' else 'workflow_deleted' end
     where workspace_id = $1 and workflow_id = $2 returning job_id`,
    [workspaceId, workflowId],
  )
  // The current run belonged to that workflow, so it ends.
  for (const { job_id } of paused) await state.cancelRun(tx, workspaceId, job_id)
  if (paused.length > 0) await wakeRunners(tx)
  const body = 'Its workflow was deleted. Give the job another workflow or a definition of its own.'
  await notifyPaused(tx, workspaceId, paused, 'workflow_deleted', body)
}

export const loadJobDefinition =
  (db: Database) =>
  async (workspaceId: string, definitionId: string): Promise<Definition | undefined> =>
    (await db.tenant({ workspaceId, userId: null }, (tx) => findDefinition(tx, workspaceId, definitionId)))
      ?.definition as Definition | undefined

/** Adds a person who accepted an invitation to a job. An existing member keeps the current role. */
export const joinJob: NonNullable<OnAccepted['job']> = async (tx, { workspaceId, resourceId, userId, role }) => {
  if (!(await lockJob(tx, workspaceId, resourceId))) throw problem('not_found')
  if (await members.findMember(tx, workspaceId, resourceId, userId)) return
  await members.putMember(tx, workspaceId, resourceId, userId, role as Role)
}

/** Transfers jobs to an owner of the workspace if the leaving person was their only owner. */
export const reassignJobs: OnMemberRemoved = async (tx, { workspaceId, userId, byUserId }) => {
  const jobs = await tx.rows<{ job_id: string; alone: boolean }>(
    `select m.job_id, not exists (select from job_members o where o.workspace_id = m.workspace_id and o.job_id = m.job_id
       and o.role = 'owner' and o.user_id <> m.user_id) as alone
     from job_members m where m.workspace_id = $1 and m.user_id = $2 and m.role = 'owner'`,
    [workspaceId, userId],
  )
  if (jobs.length > 0) await reassignTheseJobs(tx, { workspaceId, userId, byUserId }, jobs)
  // Definitions that the person wrote act for the owner of their job from this moment.
  await tx.count(
    `update job_definitions d set created_by = j.owner_id from enrichment_jobs j
     where d.workspace_id = $1 and d.created_by = $2 and j.workspace_id = d.workspace_id and j.job_id = d.job_id`,
    [workspaceId, userId],
  )
}

async function reassignTheseJobs(
  tx: Tx,
  { workspaceId, userId, byUserId }: Parameters<OnMemberRemoved>[1],
  jobs: { job_id: string; alone: boolean }[],
): Promise<void> {
  const { user_id: heir } = await tx.row<{ user_id: string }>(
    `select user_id from memberships where workspace_id = $1 and user_id <> $2 order by role = 'owner' desc, user_id = $3 desc, user_id limit 1`,
    [workspaceId, userId, byUserId],
  )
  for (const { job_id, alone } of jobs) {
    await lockJob(tx, workspaceId, job_id)
    if (alone) await members.putMember(tx, workspaceId, job_id, heir, 'owner')
    await members.deleteMember(tx, workspaceId, job_id, userId)
    await members.settleOwner(tx, workspaceId, job_id)
  }
}
