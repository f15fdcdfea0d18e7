import type { DatasetUse } from '#areas/datasets/use'
import { ACTIVATION_REQUIRED } from '#areas/executions/start'
import { findPlanned } from '#areas/trials/service'
import { nextRun } from '#areas/workflows/times'
import { type Flow, type FlowSettings, flowOf } from '#engine/flow/rules'
import { personInitiator } from '#engine/initiators'
import type { Initiator } from '#engine/ports'
import type { Definition, Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { newId, toWire } from '#platform/ids'
import { missingFor } from '../connections.ts'
import { appendEvent } from '../events.ts'
import { findDefinition } from '../executed-store.ts'
import { pauseForMissing } from '../hooks.ts'
import { notifyOwners } from '../owner-notices.ts'
import { doneHash, legacyRecipeHash, recipeHash } from '../recipe.ts'
import type { SourceCursor } from '../source.ts'
import { type JobRow, outputIsGone, takeDueJob } from '../store.ts'
import { findForbidden } from './allowed.ts'
import type { Target } from './attempts.ts'
import type { RunError } from './run-error.ts'
import * as runs from './runs.ts'

type Executed = { definition_ref: string; sha256: string; version_id: string | null }

/** Returns what the job currently executes, or why it cannot run. */
async function executedBy(tx: Tx, workspaceId: string, job: JobRow): Promise<Executed | RunError> {
  if (job.definition_id !== null) {
    const { sha256 } = (await findDefinition(tx, workspaceId, job.definition_id))!
    return { definition_ref: `adhoc:${job.definition_id}`, sha256, version_id: null }
  }
  const version = await tx.maybe<{ version_id: string; sha256: string; activation_required: boolean }>(
    `select v.version_id, v.sha256, w.activation_required from workflow_versions v
     join workflows w on w.workspace_id = v.workspace_id and w.workflow_id = v.workflow_id
     where v.workspace_id = $1 and v.workflow_id = $2 and v.active`,
    [workspaceId, job.workflow_id],
  )
  if (job.workflow_gone) return { code: 'workflow_deleted', message: 'The workflow of the job was deleted.' }
  if (!version) return { code: 'no_active_version', message: 'The workflow of the job has no active version.' }
  if (version.activation_required) return { code: 'activation_required', message: ACTIVATION_REQUIRED }
  return { definition_ref: `version:${version.version_id}`, sha256: version.sha256, version_id: version.version_id }
}

const isError = (value: object): value is RunError => 'code' in value

/**
 * Returns the position from which the source is read. Continues only if all earlier rows were processed in the same way
 * and none of them must be repeated.
 */
function cursorOf(job: JobRow, sha256: string): SourceCursor {
  const of = doneHash(sha256, job)
  const goesOn = !job.due_full && !job.due_retry_failed && job.source_cursor?.of === of
  return goesOn ? job.source_cursor! : { of }
}

/**
 * Turns a due job into a run, in one transaction, so that only one of several processes starts it. Returns the id of a
 * run to drive, if there is one.
 */
export function beginRun(
  { db, datasets }: { db: Database; datasets: DatasetUse },
  workspaceId: string,
  jobId: string,
): Promise<string | undefined> {
  return db.tenant({ workspaceId, userId: null }, async (tx) => {
    const job = await takeDueJob(tx, workspaceId, jobId)
    if (!job) return undefined
    const missing = await missingFor(tx, workspaceId, jobId)
    if (missing !== undefined) {
      await pauseForMissing(tx, workspaceId, jobId, missing)
      return undefined
    }
    const executed = await executedBy(tx, workspaceId, job)
    const dataset = job.dataset_id === null ? undefined : await datasets.findPointed(tx, workspaceId, job.dataset_id)
    const why: RunError | undefined = isError(executed)
      ? executed
      : dataset === undefined && job.source_id === null
        ? { code: 'dataset_unbound', message: 'No dataset and no source is bound to the job.' }
        : outputIsGone(job)
          ? { code: 'dataset_unbound', message: 'The dataset that the job writes was deleted.' }
          : await findForbidden(tx, workspaceId, job, executed.version_id)
    const mapping = job.mapping as JsonObject | null
    const run: runs.NewRun = {
      run_id: newId(),
      job_id: jobId,
      suite_id: null,
      is_full: job.due_full,
      recipe_sha256: isError(executed) ? Buffer.alloc(32) : recipeHash(executed.sha256),
      recipe_format: 2,
      legacy_recipe_sha256:
        isError(executed) || !job.legacy_ledger
          ? null
          : legacyRecipeHash(executed.sha256, { mapping, only_if: job.only_if }),
      key_column: job.key_column,
      mapping,
      only_if: job.only_if,
      definition_ref: isError(executed) ? '' : executed.definition_ref,
      workflow_id: job.workflow_id,
      version_id: isError(executed) ? null : executed.version_id,
      concurrency: job.concurrency,
      max_attempts: job.retry.max_attempts,
      retry: job.retry,
      max_cost: job.max_cost,
      max_tokens: job.max_tokens,
      retry_failed: job.due_retry_failed,
      sample: job.due_sample,
      columns: dataset?.columns.map(({ name }) => name) ?? null,
      cursor_from: isError(executed) || job.source_id === null ? null : cursorOf(job, executed.sha256),
      stop_on_error_rate: job.stop_on_error_rate,
      dataset_id: job.dataset_id,
      source_id: job.source_id,
      dataset_sha256: dataset?.sha256 ?? null,
      total: dataset?.record_count ?? 0,
      requested_by: job.due_by,
    }
    if (why) await runs.insertFailedRun(tx, workspaceId, run, why)
    else await runs.insertRun(tx, workspaceId, run)
    await tx.count(
      `update enrichment_jobs set status = $3, last_run_id = $4, due_at = $5, due_full = false, due_retry_failed = false, due_sample = null, due_by = null
       where workspace_id = $1 and job_id = $2`,
      [
        workspaceId,
        jobId,
        why ? 'failed' : 'running',
        run.run_id,
        job.cron === null ? null : nextRun(job.cron, job.timezone!, job.now),
      ],
    )
    const begun: JsonObject = { run_id: toWire('run', run.run_id), total: run.total }
    if (why) {
      const data = { ...begun, status: 'failed', error: why as unknown as Json }
      await appendEvent(tx, workspaceId, jobId, 'job.finished', data)
      const told = { job_id: jobId, title: 'failed', body: why.message }
      await notifyOwners(tx, workspaceId, told, 'job.failed', { code: why.code })
      return undefined
    }
    await appendEvent(tx, workspaceId, jobId, 'job.started', { ...begun, full: run.is_full, sample: run.sample })
    return run.run_id
  })
}

type Settings = FlowSettings & { timeout_s?: number }

/** Returns undefined if the run executes no stored workflow. */
const settingsOf = async (tx: Tx, run: runs.Run): Promise<Settings | undefined> =>
  run.workflow_id === null
    ? undefined
    : (
        await tx.maybe<{ settings: Settings }>(
          'select settings from workflows where workspace_id = $1 and workflow_id = $2',
          [run.workspace_id, run.workflow_id],
        )
      )?.settings

/** Reads the present rules of the workflow. */
export async function currentFlow(tx: Tx, run: runs.Run): Promise<Flow | null> {
  const settings = await settingsOf(tx, run)
  return settings ? flowOf(settings) : null
}

/** Reads what a run executes. Called again by a process that takes the run over. */
export async function targetOf(db: Database, run: runs.Run): Promise<Target> {
  const { workspace_id: workspaceId } = run
  return db.tenant({ workspaceId, userId: null }, async (tx) => {
    const definition = await definitionOf(tx, workspaceId, run.definition_ref)
    if (!definition) throw new Error(`there is no definition ${run.definition_ref}`)
    const settings = await settingsOf(tx, run)
    const { principal_id, initiators } = await authorityOf(tx, run)
    return {
      definition,
      initiators,
      start: {
        principalId: principal_id,
        definitionRef: run.definition_ref,
        workflowId: run.workflow_id,
        versionId: run.version_id,
        timeoutS: settings?.timeout_s ?? null,
        flow: settings ? flowOf(settings) : null,
      },
    }
  })
}

async function definitionOf(tx: Tx, workspaceId: string, ref: string): Promise<Definition | null | undefined> {
  const [kind, id] = [ref.slice(0, ref.indexOf(':')), ref.slice(ref.indexOf(':') + 1)]
  if (kind === 'adhoc')
    return (await findDefinition(tx, workspaceId, id))?.definition as unknown as Definition | undefined
  // The run of a suite that has no effects outside.
  if (kind === 'trial') return findPlanned(tx, workspaceId, id)
  const row = await tx.row<{ definition: Definition | null }>('select definition_of_version($1, $2) as definition', [
    workspaceId,
    id,
  ])
  return row.definition
}

/**
 * Returns the principal of a run and its initiators: the person who requested it, and the owner of the job or suite.
 */
async function authorityOf(tx: Tx, run: runs.Run): Promise<{ principal_id: string | null; initiators: Initiator[] }> {
  const { workspace_id: workspaceId } = run
  const row = await tx.row<{ job_owner: string | null; suite_maker: string | null; principal_id: string | null }>(
    `select (select owner_id from enrichment_jobs where workspace_id = $1 and job_id = $2) as job_owner,
       (select created_by from suites where workspace_id = $1 and suite_id = $3) as suite_maker,
       coalesce(principal_of_version($1, $4), (select d.created_by from job_definitions d
         where d.workspace_id = $1 and 'adhoc:' || d.definition_id = $5)) as principal_id`,
    [workspaceId, run.job_id, run.suite_id, run.version_id, run.definition_ref],
  )
  const source: Initiator =
    run.job_id === null
      ? { kind: 'suite', id: toWire('suite', run.suite_id!), user_id: row.suite_maker }
      : { kind: 'job', id: toWire('job', run.job_id), user_id: row.job_owner }
  return {
    principal_id: row.principal_id ?? row.job_owner,
    initiators: run.requested_by === null ? [source] : [personInitiator(run.requested_by), source],
  }
}
