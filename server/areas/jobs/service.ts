import type { DatasetUse } from '#areas/datasets/use'
import { activationRequired } from '#areas/executions/start'
import type { Invitations } from '#areas/identity/invitations'
import { checkShares, replaceShares, type TeamShare } from '#areas/teams/shares'
import { nextRun } from '#areas/workflows/times'
import type { Engine } from '#engine/ports'
import { listLiveOfJob } from '#engine/read'
import { recordAudit } from '#platform/audit'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { decodeCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId, toWire } from '#platform/ids'
import { type IssuedTicket, issueTicket } from '#platform/realtime/tickets'
import { bindVerbs } from '#platform/verbs'
import { type ChangeOptions, changeJob, fresh } from './changing.ts'
import { missingFor } from './connections.ts'
import { appendEvent, wakeRunners } from './events.ts'
import { findPinnedWorkflow } from './executed-store.ts'
import { type ExportOptions, exportRecords } from './exporting.ts'
import * as ledgers from './ledger-store.ts'
import { putMember } from './members-store.ts'
import type { Job, JobPut, JobRun, NewJob, RecordStatus, RunNow } from './schema.ts'
import * as state from './state-store.ts'
import * as store from './store.ts'

type ById = { job_id: string }

export type JobsOptions = {
  workflows: ChangeOptions['workflows']
  datasets: Pick<DatasetUse, 'findPointed' | 'releaseVersion' | 'readVersion'>
  blobs: ExportOptions['blobs']
  engine: Pick<Engine, 'cancel'>
  invitations: Pick<Invitations, 'revokeTo'>
}

/** The ledger before the first run. */
const noRun = {
  run_id: null,
  total: 0,
  counts: { pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0, filtered: 0 },
  dataset_sha256: null,
}

export async function getJob(ctx: Context, { job_id }: ById): Promise<Job> {
  const job = await store.findJob(ctx.tx, ctx.workspace.workspace_id, job_id)
  if (!job) throw problem('not_found')
  return job
}

async function locked(ctx: Context, jobId: string): Promise<store.JobRow> {
  const job = await store.lockJob(ctx.tx, ctx.workspace.workspace_id, jobId)
  if (!job) throw problem('not_found')
  return job
}

/** Throws the reason why the job cannot run, with instructions for the user. */
async function requireRunnable(ctx: Context, job: store.JobRow): Promise<void> {
  const { workspace_id } = ctx.workspace
  if (job.workflow_gone)
    throw problem('workflow_deleted', 'Give the job another workflow_id, or a definition of its own.')
  if (job.dataset_id === null && job.source_id === null)
    throw problem('dataset_unbound', 'Bind a dataset or a source to the job first.')
  if (store.outputIsGone(job))
    throw problem('dataset_unbound', 'The dataset that the job writes was deleted. Give it another output.')
  const missing = await missingFor(ctx.tx, workspace_id, job.job_id)
  if (missing === 'connection_revoked')
    throw problem('connection_revoked', 'The job reads through a revoked connection. Store a new credential there.')
  if (missing === 'credential_unusable')
    throw problem('credential_unusable', 'The job uses a credential that must be stored or connected again.')
  if (job.workflow_id !== null) {
    const target = await findPinnedWorkflow(ctx.tx, workspace_id, job.workflow_id, null)
    if (target?.activation_required) throw activationRequired()
    if (target?.version_id == null) throw problem('no_active_version', 'Activate a version of the workflow first.')
  }
}

/** Only owners of the job itself may share it, as with its members. */
async function shareWith(ctx: Context, jobId: string, teams: TeamShare[]): Promise<void> {
  const { workspace_id } = ctx.workspace
  const own = await store.findOwnRole(ctx.tx, workspace_id, jobId, ctx.person.user_id)
  if (own?.role !== 'owner') throw problem('forbidden', 'Only an owner of the job shares it with teams.')
  await checkShares(ctx.tx, workspace_id, teams)
  await replaceShares(ctx.tx, workspace_id, 'job_id', jobId, teams)
}

async function makeDue(
  ctx: Context,
  jobId: string,
  due: { full: boolean; retryFailed: boolean; sample: number | null },
): Promise<Job> {
  const { workspace_id } = ctx.workspace
  const job = await locked(ctx, jobId)
  await requireRunnable(ctx, job)
  await state.setDue(ctx.tx, workspace_id, jobId, { ...due, by: ctx.person.user_id })
  if (job.status === 'paused') await state.freeRuns(ctx.tx, workspace_id, [jobId])
  await wakeRunners(ctx.tx)
  return getJob(ctx, { job_id: jobId })
}

export const listJobs = (ctx: Context, asked: ListInput) =>
  store.listJobs(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)

export async function createJob(deps: JobsOptions, ctx: Context, { teams, ...input }: NewJob): Promise<Job> {
  const { workspace_id } = ctx.workspace
  const job_id = newId()
  await checkShares(ctx.tx, workspace_id, teams)
  const fields = await changeJob(deps, ctx, job_id, input, { ...fresh, name: input.name }, null)
  await store.insertJob(ctx.tx, workspace_id, job_id, ctx.person.user_id, fields)
  await putMember(ctx.tx, workspace_id, job_id, ctx.person.user_id, 'owner')
  if (teams) await replaceShares(ctx.tx, workspace_id, 'job_id', job_id, teams)
  await wakeRunners(ctx.tx)
  return getJob(ctx, { job_id })
}

export async function updateJob(
  deps: JobsOptions,
  ctx: Context,
  { job_id, teams, ...given }: ById & JobPut,
): Promise<Job> {
  const { workspace_id } = ctx.workspace
  if (teams !== undefined) await shareWith(ctx, job_id, teams ?? [])
  const { now, ...present } = await locked(ctx, job_id)
  const fields = await changeJob(deps, ctx, job_id, given, present, now)
  await store.updateJob(ctx.tx, workspace_id, job_id, fields)
  const after = await locked(ctx, job_id)
  const forWorkflow = after.paused_reason === 'workflow_deleted' && !after.workflow_gone
  if (forWorkflow || after.paused_reason === 'connection_revoked' || after.paused_reason === 'credential_unusable') {
    const stays = await missingFor(ctx.tx, workspace_id, job_id)
    if (!stays || forWorkflow) await state.resumeJob(ctx.tx, workspace_id, job_id)
    if (stays && forWorkflow) await state.pauseJob(ctx.tx, workspace_id, job_id, stays)
    if (!stays) await state.freeRuns(ctx.tx, workspace_id, [job_id])
  }
  // Another workflow changes who may see the job.
  if (after.workflow_id !== present.workflow_id) ctx.tx.hint('access', '')
  await wakeRunners(ctx.tx)
  return getJob(ctx, { job_id })
}

export async function deleteJob(
  { datasets, engine, invitations }: JobsOptions,
  ctx: Context,
  { job_id }: ById,
): Promise<void> {
  const { workspace_id } = ctx.workspace
  const job = await locked(ctx, job_id)
  const run = await state.findLiveRun(ctx.tx, workspace_id, job_id)
  if (run?.captured_version_id) await datasets.releaseVersion(ctx.tx, workspace_id, run.captured_version_id)
  const live = await listLiveOfJob(ctx.tx, workspace_id, toWire('job', job_id))
  for (const executionId of live)
    await engine.cancel(ctx.tx, { workspaceId: workspace_id, executionId }, toWire('usr', ctx.person.user_id))
  await invitations.revokeTo(ctx.tx, workspace_id, job_id)
  await store.deleteJob(ctx.tx, workspace_id, job_id)
  // Readers of the audit log may not know about a pinned job, so its id is omitted.
  const subject = store.isPinned(job) ? {} : { subject: toWire('job', job_id) }
  await recordAudit(ctx, ctx.tx, { action: 'job.deleted', ...subject })
  ctx.tx.hint('access', '')
}

export async function listLedger(
  ctx: Context,
  input: ById & ListQuery & { status?: RecordStatus | undefined; run_id?: string | undefined },
) {
  const { workspace_id } = ctx.workspace
  const ledger = await ledgers.findLedger(ctx.tx, workspace_id, input.job_id, input.run_id ?? null)
  if (!ledger && input.run_id !== undefined) throw unknownReference('/run_id')
  if (input.status === undefined) return ledger ?? noRun
  if (!ledger) return { ...noRun, items: [], next_cursor: null }
  const key = decodeCursor(input.cursor, 1)
  if (key && !Number.isInteger(key[0])) throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
  const after = (key?.[0] as number | undefined) ?? -1
  const rows = await ledgers.listRecords(ctx.tx, workspace_id, ledger.run_id, input.status, after, input.limit)
  return { ...ledger, ...toPage(rows, input.limit, (row) => [row.position]) }
}

export const listRuns = (ctx: Context, { job_id, ...asked }: ById & ListInput) =>
  ledgers.listRuns(ctx.tx, ctx.workspace.workspace_id, job_id, asked)

export async function getRun(ctx: Context, { job_id, run_id }: ById & { run_id: string }): Promise<JobRun> {
  const run = await ledgers.findRun(ctx.tx, ctx.workspace.workspace_id, job_id, run_id)
  if (!run) throw problem('not_found')
  return run
}

export const runNow = (ctx: Context, { job_id, full, sample }: ById & RunNow): Promise<Job> =>
  makeDue(ctx, job_id, { full, retryFailed: false, sample: sample ?? null })

export const retryFailed = (ctx: Context, { job_id }: ById): Promise<Job> =>
  makeDue(ctx, job_id, { full: false, retryFailed: true, sample: null })

export async function pauseJob(ctx: Context, { job_id }: ById): Promise<Job> {
  const { workspace_id } = ctx.workspace
  await locked(ctx, job_id)
  if ((await state.pauseJob(ctx.tx, workspace_id, job_id, 'manual')) > 0)
    await appendEvent(ctx.tx, workspace_id, job_id, 'job.paused', { reason: 'manual' })
  return getJob(ctx, { job_id })
}

export async function resumeJob(ctx: Context, { job_id }: ById): Promise<Job> {
  const { workspace_id } = ctx.workspace
  const job = await locked(ctx, job_id)
  if (job.workflow_gone) await requireRunnable(ctx, job)
  if (await missingFor(ctx.tx, workspace_id, job_id)) await requireRunnable(ctx, job)
  await state.resumeJob(ctx.tx, workspace_id, job_id)
  await state.freeRuns(ctx.tx, workspace_id, [job_id])
  await wakeRunners(ctx.tx)
  return getJob(ctx, { job_id })
}

/** Ends the current run, and discards a requested one. */
export async function cancelJob(ctx: Context, { job_id }: ById): Promise<Job> {
  const { workspace_id } = ctx.workspace
  const job = await locked(ctx, job_id)
  const live = await state.cancelRun(ctx.tx, workspace_id, job_id)
  const asked = job.due_at !== null && job.due_at <= job.now
  if (live === 0 && !asked) throw problem('conflict', 'The job is neither running nor due.')
  if (asked) {
    const next = job.cron === null ? null : nextRun(job.cron, job.timezone!, job.now)
    await ctx.tx.count(
      'update enrichment_jobs set due_at = $3, due_full = false, due_retry_failed = false, due_sample = null, due_by = null where workspace_id = $1 and job_id = $2',
      [workspace_id, job_id, next],
    )
  }
  await wakeRunners(ctx.tx)
  return getJob(ctx, { job_id })
}

export const issueBatchTicket = (ctx: Context, { job_id }: ById): Promise<IssuedTicket> =>
  issueTicket(ctx, { kind: 'job', resource: job_id, path: `/ws/jobs/${toWire('job', job_id)}` })

const verbsOfJobs = {
  createJob,
  updateJob,
  deleteJob,
}

export function makeJobs(dependencies: JobsOptions) {
  return {
    ...bindVerbs<JobsOptions, typeof verbsOfJobs>(dependencies, verbsOfJobs),
    getJob,
    listJobs,
    listLedger,
    exportRecords: exportRecords(dependencies),
    listRuns,
    getRun,
    runNow,
    retryFailed,
    pauseJob,
    resumeJob,
    cancelJob,
    issueBatchTicket,
  }
}

export type Jobs = ReturnType<typeof makeJobs>
