import { createHash } from 'node:crypto'
import type { DatasetUse } from '#areas/datasets/use'
import { checkCron, nextRun } from '#areas/workflows/schedules'
import type { Workflows } from '#areas/workflows/service'
import type { Engine } from '#engine/ports'
import { definitionText } from '#model/canonical'
import type { Definition, Json, JsonObject } from '#model/definition'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId, toWire } from '#platform/ids'
import { type IssuedTicket, issueTicket } from '#platform/realtime/tickets'
import { needsRevoked } from './hooks.ts'
import { checkColumns, checkMapping, checkOnlyIf, checkTargets } from './recipe.ts'
import { DEFAULT_CONCURRENCY, DEFAULT_ERROR_RATE, type Job, type JobPut, type NewJob } from './schema.ts'
import * as store from './store.ts'

type ById = { job_id: string }

export type JobsOptions = {
  workflows: Pick<Workflows, 'checkDefinition'>
  datasets: Pick<DatasetUse, 'findPointed' | 'releaseVersion'>
  engine: Pick<Engine, 'cancel' | 'nudge'>
}

/** Before the first run. */
const noRun = {
  run_id: null,
  total: 0,
  counts: { pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0 },
  dataset_sha256: null,
}

const fresh: store.JobFields = {
  name: '',
  workflow_id: null,
  definition_id: null,
  dataset_id: null,
  source_id: null,
  mapping: null,
  only_if: null,
  output_name: null,
  output_dataset_id: null,
  cron: null,
  timezone: null,
  concurrency: DEFAULT_CONCURRENCY,
  stop_on_error_rate: DEFAULT_ERROR_RATE,
  due_at: null,
}

export function makeJobs({ workflows, datasets, engine }: JobsOptions) {
  async function getJob(ctx: Context, { job_id }: ById): Promise<Job> {
    const job = await store.findJob(ctx.tx, ctx.workspace.workspace_id, job_id)
    if (!job) throw problem('not_found')
    return job
  }

  async function locked(ctx: Context, jobId: string): Promise<store.JobRow> {
    const job = await store.lockJob(ctx.tx, ctx.workspace.workspace_id, jobId)
    if (!job) throw problem('not_found')
    return job
  }

  /** What the job executes, after the change; a workflow only where the caller may run it. */
  async function executes(
    ctx: Context,
    jobId: string,
    given: JobPut,
    present: store.JobFields,
  ): Promise<Pick<store.JobFields, 'workflow_id' | 'definition_id'> & { inputs: Json }> {
    const { workspace_id } = ctx.workspace
    if (given.workflow_id != null && given.definition != null)
      throw invalid([{ path: '/definition', message: 'is given beside workflow_id; a job has one of the two' }])
    if (given.definition != null) {
      const definition = await workflows.checkDefinition(ctx, given.definition)
      const sha256 = createHash('sha256').update(definitionText(definition)).digest('hex')
      const inputs = (definition.inputs ?? true) as Json
      const before =
        present.definition_id === null
          ? undefined
          : await store.findDefinition(ctx.tx, workspace_id, present.definition_id)
      if (before?.sha256 === sha256) return { workflow_id: null, definition_id: present.definition_id, inputs }
      const definition_id = newId()
      await store.insertDefinition(ctx.tx, workspace_id, {
        definition_id,
        job_id: jobId,
        definition: definition as unknown as Json,
        sha256,
      })
      return { workflow_id: null, definition_id, inputs }
    }
    if (given.workflow_id != null && given.workflow_id !== present.workflow_id) {
      const target = await store.findPinnedTo(ctx.tx, workspace_id, given.workflow_id, ctx.person.user_id)
      const mine = target?.owner_id === ctx.person.user_id
      if (!target || (ctx.workspace.role === 'guest' && target.role === null && !mine))
        throw unknownReference('/workflow_id')
      if (!mine && target.role !== 'member')
        throw problem('forbidden', 'Only the owner or a member of the workflow may let a job run it.')
      return { workflow_id: given.workflow_id, definition_id: null, inputs: target.inputs ?? true }
    }
    if (present.workflow_id !== null && given.workflow_id !== null) {
      const target = await store.findPinnedTo(ctx.tx, workspace_id, present.workflow_id, ctx.person.user_id)
      return { workflow_id: present.workflow_id, definition_id: null, inputs: target?.inputs ?? true }
    }
    if (present.definition_id !== null && given.definition !== null) {
      const { definition } = (await store.findDefinition(ctx.tx, workspace_id, present.definition_id))!
      const inputs = ((definition as unknown as Definition).inputs ?? true) as Json
      return { workflow_id: null, definition_id: present.definition_id, inputs }
    }
    throw executesNothing()
  }

  async function checkBinding(ctx: Context, fields: store.JobFields, present: store.JobFields): Promise<void> {
    const { workspace_id, role } = ctx.workspace
    const unknown: string[] = []
    // Guests see no datasets and no sources; what is bound already stays.
    const check = async (what: 'datasets' | 'sources', path: string, id: string | null, before: string | null) => {
      if (id === null || id === before) return
      if (role === 'guest' || !(await store.exists(ctx.tx, what, workspace_id, id))) unknown.push(path)
    }
    await check('datasets', '/dataset_id', fields.dataset_id, present.dataset_id)
    await check('sources', '/source_id', fields.source_id, present.source_id)
    await check('datasets', '/output/dataset_id', fields.output_dataset_id, present.output_dataset_id)
    if (unknown.length > 0) throw unknownReference(...unknown)
    if (fields.output_dataset_id !== null && fields.output_dataset_id === fields.dataset_id)
      throw invalid([{ path: '/output/dataset_id', message: 'is the dataset that the job reads' }])
  }

  async function checkRecipe(ctx: Context, fields: store.JobFields, inputs: Json): Promise<void> {
    const mapping = fields.mapping as JsonObject | null
    const errors = [
      ...(mapping === null ? [] : [...checkMapping(mapping), ...checkTargets(mapping, inputs)]),
      ...(fields.only_if === null ? [] : checkOnlyIf(fields.only_if)),
    ]
    if (mapping !== null && fields.dataset_id !== null) {
      const dataset = await datasets.findPointed(ctx.tx, ctx.workspace.workspace_id, fields.dataset_id)
      if (dataset?.columns_complete && dataset.record_count > 0)
        errors.push(...checkColumns(mapping, new Set(dataset.columns.map(({ name }) => name))))
    }
    if (errors.length > 0) throw invalid(errors.slice(0, 50))
  }

  /** The row after the change: absent fields stay, null clears. */
  async function changed(
    ctx: Context,
    jobId: string,
    given: JobPut,
    present: store.JobFields,
    now: Date | null,
  ): Promise<store.JobFields> {
    if (given.dataset_id != null && given.source_id != null)
      throw invalid([{ path: '/source_id', message: 'is given beside dataset_id; a job has one of the two' }])
    const { inputs, ...executed } = await executes(ctx, jobId, given, present)
    const fields: store.JobFields = {
      ...present,
      ...executed,
      name: given.name ?? present.name,
      dataset_id: given.dataset_id !== undefined ? given.dataset_id : given.source_id ? null : present.dataset_id,
      source_id: given.source_id !== undefined ? given.source_id : given.dataset_id ? null : present.source_id,
      mapping: given.mapping === undefined ? present.mapping : (given.mapping as Json),
      only_if: given.only_if === undefined ? present.only_if : given.only_if,
      ...outputOf(given.output, present),
      concurrency: given.concurrency === undefined ? present.concurrency : (given.concurrency ?? DEFAULT_CONCURRENCY),
      stop_on_error_rate:
        given.stop_on_error_rate === undefined ? present.stop_on_error_rate : given.stop_on_error_rate,
    }
    await checkBinding(ctx, fields, present)
    await checkRecipe(ctx, fields, inputs)
    if (given.schedule === undefined) return fields
    const { cron, timezone } = given.schedule ?? { cron: null, timezone: null }
    const next = cron === null ? null : checkCron(cron, timezone, '/schedule')
    const asked = present.due_at !== null && now !== null && present.due_at <= now
    const same = cron === present.cron && timezone === present.timezone
    return { ...fields, cron, timezone, due_at: asked || same ? present.due_at : next }
  }

  /** Why the job cannot run; what a person must do about it is in the words. */
  async function requireRunnable(ctx: Context, job: store.JobRow): Promise<void> {
    const { workspace_id } = ctx.workspace
    if (job.workflow_gone)
      throw problem('workflow_deleted', 'Give the job another workflow_id, or a definition of its own.')
    if (job.dataset_id === null && job.source_id === null)
      throw problem('dataset_unbound', 'Bind a dataset or a source to the job first.')
    if (await needsRevoked(ctx.tx, workspace_id, job.job_id))
      throw problem('connection_revoked', 'The job reads through a revoked connection. Store a new credential there.')
    if (job.workflow_id !== null) {
      const target = await store.findPinnedTo(ctx.tx, workspace_id, job.workflow_id, null)
      if (target?.version_id == null) throw problem('no_active_version', 'Activate a version of the workflow first.')
    }
  }

  return {
    getJob,

    async listJobs(ctx: Context, { cursor, limit }: ListQuery) {
      const { workspace_id } = ctx.workspace
      const rows = await store.listJobs(ctx.tx, workspace_id, ctx.person.user_id, decodeIdCursor(cursor), limit)
      return toPage(rows, limit, (row) => [row.job_id])
    },

    async createJob(ctx: Context, input: NewJob): Promise<Job> {
      const { workspace_id } = ctx.workspace
      const job_id = newId()
      const fields = await changed(ctx, job_id, input, { ...fresh, name: input.name }, null)
      await store.insertJob(ctx.tx, workspace_id, job_id, ctx.person.user_id, fields)
      await store.putMember(ctx.tx, workspace_id, job_id, ctx.person.user_id, 'owner')
      wakeRunners(ctx.tx)
      return getJob(ctx, { job_id })
    },

    async updateJob(ctx: Context, { job_id, ...given }: ById & JobPut): Promise<Job> {
      const { workspace_id } = ctx.workspace
      const { now, ...present } = await locked(ctx, job_id)
      const fields = await changed(ctx, job_id, given, present, now)
      await store.updateJob(ctx.tx, workspace_id, job_id, fields)
      const after = await locked(ctx, job_id)
      const healed =
        (after.paused_reason === 'workflow_deleted' && !after.workflow_gone) ||
        (after.paused_reason === 'connection_revoked' && !(await needsRevoked(ctx.tx, workspace_id, job_id)))
      if (healed) {
        await store.resumeJob(ctx.tx, workspace_id, job_id)
        await store.freeRuns(ctx.tx, workspace_id, [job_id])
      }
      // Another workflow means other people who see it.
      if (after.workflow_id !== present.workflow_id) ctx.tx.hint('access', '')
      wakeRunners(ctx.tx)
      return getJob(ctx, { job_id })
    },

    async deleteJob(ctx: Context, { job_id }: ById): Promise<void> {
      const { workspace_id } = ctx.workspace
      const job = await locked(ctx, job_id)
      const run = await store.findLiveRun(ctx.tx, workspace_id, job_id)
      if (run?.captured_version_id) await datasets.releaseVersion(ctx.tx, workspace_id, run.captured_version_id)
      const live = await store.listLiveExecutions(ctx.tx, workspace_id, toWire('job', job_id))
      for (const executionId of live)
        await engine.cancel(ctx.tx, { workspaceId: workspace_id, executionId }, toWire('usr', ctx.person.user_id))
      await store.deleteJob(ctx.tx, workspace_id, job_id)
      await recordAudit(ctx, ctx.tx, { action: 'job.deleted', subject: toWire('job', job.job_id) })
      ctx.tx.hint('access', '')
      ctx.afterCommit(() => engine.nudge(live))
    },

    async listLedger(ctx: Context, input: ById & ListQuery & { status?: string | undefined }) {
      const { workspace_id } = ctx.workspace
      const ledger = await store.findLedger(ctx.tx, workspace_id, input.job_id)
      if (input.status === undefined) return ledger ?? noRun
      if (!ledger) return { ...noRun, items: [], next_cursor: null }
      const key = decodeCursor(input.cursor, 1)
      if (key && !Number.isInteger(key[0]))
        throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
      const after = (key?.[0] as number | undefined) ?? -1
      const rows = await store.listRecords(ctx.tx, workspace_id, ledger.run_id, input.status, after, input.limit)
      return { ...ledger, ...toPage(rows, input.limit, (row) => [row.position]) }
    },

    async runNow(ctx: Context, { job_id, full }: ById & { full: boolean }): Promise<Job> {
      const { workspace_id } = ctx.workspace
      const job = await locked(ctx, job_id)
      await requireRunnable(ctx, job)
      await store.setDue(ctx.tx, workspace_id, job_id, { full, by: ctx.person.user_id })
      if (job.status === 'paused') await store.freeRuns(ctx.tx, workspace_id, [job_id])
      wakeRunners(ctx.tx)
      return getJob(ctx, { job_id })
    },

    async pauseJob(ctx: Context, { job_id }: ById): Promise<Job> {
      const { workspace_id } = ctx.workspace
      await locked(ctx, job_id)
      if ((await store.pauseJob(ctx.tx, workspace_id, job_id, 'manual')) > 0)
        await store.appendEvent(ctx.tx, workspace_id, job_id, 'job.paused', { reason: 'manual' })
      return getJob(ctx, { job_id })
    },

    async resumeJob(ctx: Context, { job_id }: ById): Promise<Job> {
      const { workspace_id } = ctx.workspace
      const job = await locked(ctx, job_id)
      if (job.workflow_gone) await requireRunnable(ctx, job)
      if (await needsRevoked(ctx.tx, workspace_id, job_id)) await requireRunnable(ctx, job)
      await store.resumeJob(ctx.tx, workspace_id, job_id)
      await store.freeRuns(ctx.tx, workspace_id, [job_id])
      wakeRunners(ctx.tx)
      return getJob(ctx, { job_id })
    },

    /** Ends the run that is under way, and forgets one that was asked for. */
    async cancelJob(ctx: Context, { job_id }: ById): Promise<Job> {
      const { workspace_id } = ctx.workspace
      const job = await locked(ctx, job_id)
      const live = await store.cancelRun(ctx.tx, workspace_id, job_id)
      const asked = job.due_at !== null && job.due_at <= job.now
      if (live === 0 && !asked) throw problem('conflict', 'The job is neither running nor due.')
      if (asked) {
        const next = job.cron === null ? null : nextRun(job.cron, job.timezone!, job.now)
        await ctx.tx.count(
          'update enrichment_jobs set due_at = $3, due_full = false, due_by = null where workspace_id = $1 and job_id = $2',
          [workspace_id, job_id, next],
        )
      }
      wakeRunners(ctx.tx)
      return getJob(ctx, { job_id })
    },

    issueBatchTicket: (ctx: Context, { job_id }: ById): Promise<IssuedTicket> =>
      issueTicket(ctx, { kind: 'job', resource: job_id, path: `/ws/jobs/${toWire('job', job_id)}` }),
  }
}

export type Jobs = ReturnType<typeof makeJobs>

/** A run of the ledger was made or freed: whoever drives runs looks at once. */
export const wakeRunners = (tx: Tx): void => tx.hint(store.DUE_HINTS, '')

const executesNothing = () => invalid([{ path: '/workflow_id', message: 'name a workflow, or give a definition' }])

function outputOf(
  given: JobPut['output'],
  present: store.JobFields,
): Pick<store.JobFields, 'output_name' | 'output_dataset_id'> {
  if (given === undefined) return { output_name: present.output_name, output_dataset_id: present.output_dataset_id }
  if (given === null) return { output_name: null, output_dataset_id: null }
  if (given.new === undefined) return { output_name: null, output_dataset_id: given.dataset_id ?? null }
  const kept = given.new === present.output_name ? present.output_dataset_id : null
  // A fetched job sent back says both; otherwise the dataset of a new output is not for the caller to choose.
  if (given.dataset_id != null && given.dataset_id !== kept)
    throw invalid([{ path: '/output', message: 'has new and dataset_id; an output is one of the two' }])
  return { output_name: given.new, output_dataset_id: kept }
}
