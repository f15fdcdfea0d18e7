import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import type { SourceCursor } from '../source.ts'
import type { RunError } from './run-error.ts'
import type { Retry } from './verdict.ts'

// The statements of the ledger. Each write of a runner ends with `moveRun`, which finds no row if the lease was lost.
// Then the whole transaction is rolled back.

export type RunStatus = 'starting' | 'running' | 'writing' | 'succeeded' | 'failed' | 'cancelled'

export type Run = {
  workspace_id: string
  run_id: string
  job_id: string | null
  suite_id: string | null
  status: RunStatus
  is_full: boolean
  recipe_sha256: Buffer
  /** 1: results are found by the hash of the record. 2: by the hash of the mapped input. */
  recipe_format: number
  /** The recipe under which results of format 1 are adopted, if there may be any. */
  legacy_recipe_sha256: Buffer | null
  key_column: string | null
  mapping: JsonObject | null
  only_if: string | null
  definition_ref: string
  workflow_id: string | null
  version_id: string | null
  concurrency: number
  max_attempts: number
  /** Null in runs that an older release started. */
  retry: Retry | null
  max_cost: number | null
  max_tokens: number | null
  retry_failed: boolean
  /** The number of records to try, or null for all. */
  sample: number | null
  columns: string[] | null
  cursor_from: SourceCursor | null
  cursor_to: { value: Json } | null
  stop_on_error_rate: number | null
  dataset_id: string | null
  source_id: string | null
  captured_version_id: string | null
  dataset_sha256: string | null
  total: number
  planned: number
  claimed: number
  running: number
  succeeded: number
  failed: number
  skipped: number
  filtered: number
  failed_before: number
  first_succeeded: number
  first_failed: number
  usage: JsonObject | null
  error: RunError | null
  requested_by: string | null
  epoch: number
  started_at: Date
}

export type Lease = { runnerId: string; epoch: number }

/** Another runner has taken over the run, or the run is deleted. */
export class LeaseLost extends Error {}

const columns = `workspace_id, run_id, job_id, suite_id, status, is_full, recipe_sha256, recipe_format, legacy_recipe_sha256, key_column,
  mapping, only_if, definition_ref, workflow_id, version_id, concurrency, max_attempts, retry, max_cost, max_tokens::float8 as max_tokens,
  retry_failed, sample, columns, cursor_from, cursor_to, stop_on_error_rate, dataset_id, source_id, captured_version_id, dataset_sha256, total, planned, claimed,
  running, succeeded, failed, skipped, filtered, failed_before, first_succeeded, first_failed, usage, error, requested_by, epoch,
  started_at`

const LEASE_S = 5

export type NewRun = Pick<
  Run,
  | 'run_id'
  | 'job_id'
  | 'suite_id'
  | 'is_full'
  | 'recipe_sha256'
  | 'recipe_format'
  | 'legacy_recipe_sha256'
  | 'key_column'
  | 'mapping'
  | 'only_if'
  | 'definition_ref'
  | 'workflow_id'
  | 'version_id'
  | 'concurrency'
  | 'max_attempts'
  | 'retry'
  | 'max_cost'
  | 'max_tokens'
  | 'retry_failed'
  | 'sample'
  | 'columns'
  | 'cursor_from'
  | 'stop_on_error_rate'
  | 'dataset_id'
  | 'source_id'
  | 'dataset_sha256'
  | 'total'
  | 'requested_by'
>

/** Inserts a run that the first process can take. */
export const insertRun = (tx: Tx, workspaceId: string, run: NewRun): Promise<number> =>
  tx.count(
    `insert into ledger_runs (workspace_id, run_id, job_id, suite_id, status, is_full, recipe_sha256, mapping, only_if, definition_ref,
       workflow_id, version_id, concurrency, max_attempts, stop_on_error_rate, dataset_id, source_id, dataset_sha256, total, requested_by,
       recipe_format, legacy_recipe_sha256, key_column, retry, max_cost, max_tokens, retry_failed, sample, columns, cursor_from, lease_until)
     values ($1, $2, $3, $4, case when $16::uuid is null then 'running' else 'starting' end, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
       $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, now())`,
    [
      workspaceId,
      run.run_id,
      run.job_id,
      run.suite_id,
      run.is_full,
      run.recipe_sha256,
      run.mapping === null ? null : JSON.stringify(run.mapping),
      run.only_if,
      run.definition_ref,
      run.workflow_id,
      run.version_id,
      run.concurrency,
      run.max_attempts,
      run.stop_on_error_rate,
      run.dataset_id,
      run.source_id,
      run.dataset_sha256,
      run.total,
      run.requested_by,
      run.recipe_format,
      run.legacy_recipe_sha256,
      run.key_column,
      run.retry === null ? null : JSON.stringify(run.retry),
      run.max_cost,
      run.max_tokens,
      run.retry_failed,
      run.sample,
      textOf(run.columns),
      textOf(run.cursor_from),
    ],
  )

/** Inserts a run that failed before it could start. */
export const insertFailedRun = (
  tx: Tx,
  workspaceId: string,
  run: NewRun,
  error: { code: string; message: string },
): Promise<number> =>
  tx.count(
    `insert into ledger_runs (workspace_id, run_id, job_id, status, is_full, recipe_sha256, definition_ref, concurrency, max_attempts,
       dataset_id, source_id, requested_by, error, finished_at)
     values ($1, $2, $3, 'failed', $4, $5, $6, $7, $8, $9, $10, $11, $12, now())`,
    [
      workspaceId,
      run.run_id,
      run.job_id,
      run.is_full,
      run.recipe_sha256,
      run.definition_ref,
      run.concurrency,
      run.max_attempts,
      run.dataset_id,
      run.source_id,
      run.requested_by,
      JSON.stringify(error),
    ],
  )

/** Takes the lease of a free run. Returns undefined if another process was faster. */
export const takeRun = (tx: Tx, workspaceId: string, runId: string, runnerId: string): Promise<Run | undefined> =>
  tx.maybe<Run>(
    `update ledger_runs set runner_id = $3, epoch = epoch + 1, lease_until = now() + ${LEASE_S} * interval '1 second'
     where workspace_id = $1 and run_id = (select run_id from ledger_runs where workspace_id = $1 and run_id = $2
       and finished_at is null and lease_until <= now() for update skip locked)
     returning ${columns}`,
    [workspaceId, runId, runnerId],
  )

export const readRun = (tx: Tx, workspaceId: string, runId: string): Promise<Run | undefined> =>
  tx.maybe<Run>(`select ${columns} from ledger_runs where workspace_id = $1 and run_id = $2 and finished_at is null`, [
    workspaceId,
    runId,
  ])

export type Watched = { cancelling: boolean; job_status: string | null }
const WATCHED = `cancelling,
  (select j.status from enrichment_jobs j where j.workspace_id = r.workspace_id and j.job_id = r.job_id) as job_status`

/** Renews the lease and reads whether people cancelled the run or paused the job. Undefined if the lease was lost. */
export const renewLease = (db: Database, run: Run, lease: Lease): Promise<Watched | undefined> =>
  db.tenant({ workspaceId: run.workspace_id, userId: null }, (tx) =>
    tx.maybe<Watched>(
      `update ledger_runs r set lease_until = now() + ${LEASE_S} * interval '1 second'
       where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null
       returning ${WATCHED}`,
      [run.workspace_id, run.run_id, lease.runnerId, lease.epoch],
    ),
  )

/** Reads the same as `renewLease`, without a write. Throws if the lease was lost. */
export async function watchRun(tx: Tx, run: Run, lease: Lease): Promise<Watched> {
  const row = await tx.maybe<Watched>(
    `select ${WATCHED} from ledger_runs r
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null`,
    [run.workspace_id, run.run_id, lease.runnerId, lease.epoch],
  )
  if (!row) throw new LeaseLost('the run belongs to another worker, or was deleted')
  return row
}

export type Counted = Pick<
  Run,
  'succeeded' | 'failed' | 'skipped' | 'filtered' | 'failed_before' | 'first_succeeded' | 'first_failed'
>

export type Moves = Partial<
  Counted &
    Pick<
      Run,
      'planned' | 'claimed' | 'total' | 'dataset_sha256' | 'captured_version_id' | 'columns' | 'cursor_to' | 'usage'
    > & {
      status: 'running' | 'writing'
      running: number
      error: RunError | null
    }
>

const textOf = (value: unknown): string | null => (value == null ? null : JSON.stringify(value))

/**
 * Adds the given counts, and sets watermarks and the number of running records. Reads whether people cancelled the run
 * or paused the job.
 */
export async function moveRun(tx: Tx, run: Run, lease: Lease, moves: Moves): Promise<Watched> {
  const row = await tx.maybe<Watched>(
    `update ledger_runs r set planned = coalesce($5, planned), claimed = coalesce($6, claimed), total = coalesce($7, total),
       dataset_sha256 = coalesce($8, dataset_sha256), captured_version_id = coalesce($9, captured_version_id),
       status = coalesce($10, r.status), running = coalesce($11, running), succeeded = succeeded + $12, failed = failed + $13,
       skipped = skipped + $14, filtered = filtered + $15, failed_before = failed_before + $16,
       first_succeeded = first_succeeded + $17, first_failed = first_failed + $18, columns = coalesce($19, columns),
       usage = case when $20::json is null then usage else sum_of_usage(usage, $20) end, error = coalesce($21, r.error),
       cursor_to = coalesce($22, cursor_to)
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null
     returning ${WATCHED}`,
    [
      run.workspace_id,
      run.run_id,
      lease.runnerId,
      lease.epoch,
      moves.planned ?? null,
      moves.claimed ?? null,
      moves.total ?? null,
      moves.dataset_sha256 ?? null,
      moves.captured_version_id ?? null,
      moves.status ?? null,
      moves.running ?? null,
      moves.succeeded ?? 0,
      moves.failed ?? 0,
      moves.skipped ?? 0,
      moves.filtered ?? 0,
      moves.failed_before ?? 0,
      moves.first_succeeded ?? 0,
      moves.first_failed ?? 0,
      textOf(moves.columns),
      textOf(moves.usage),
      textOf(moves.error),
      textOf(moves.cursor_to),
    ],
  )
  if (!row) throw new LeaseLost('the run belongs to another worker, or was deleted')
  return row
}

/** Resets records that were started and have not ended to pending, because the run ends without them. */
export const unclaim = (tx: Tx, run: Run): Promise<number> =>
  tx.count(
    `update ledger_records set status = 'pending', due_at = null where workspace_id = $1 and run_id = $2 and status = 'running'`,
    [run.workspace_id, run.run_id],
  )

export async function endRun(
  tx: Tx,
  run: Run,
  lease: Lease,
  end: { status: 'succeeded' | 'failed' | 'cancelled'; error: Json; output_dataset_id: string | null },
): Promise<Run> {
  const ended = await tx.maybe<Run>(
    `update ledger_runs set status = $5, error = $6, output_dataset_id = $7, running = 0, finished_at = now(), runner_id = null,
       lease_until = null
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null returning ${columns}`,
    [
      run.workspace_id,
      run.run_id,
      lease.runnerId,
      lease.epoch,
      end.status,
      end.error === null ? null : JSON.stringify(end.error),
      end.output_dataset_id,
    ],
  )
  if (!ended) throw new LeaseLost('the run belongs to another worker, or was deleted')
  return ended
}

/** Updates the job after its run ended, unless it was paused in the meantime. */
export const settleJob = (tx: Tx, run: Run, status: 'idle' | 'failed'): Promise<number> =>
  tx.count(`update enrichment_jobs set status = $3 where workspace_id = $1 and job_id = $2 and status = 'running'`, [
    run.workspace_id,
    run.job_id,
    status,
  ])

/**
 * After a complete run, all results of format 1 are adopted, and the rows of the source are processed up to a value.
 */
export const settleSource = (tx: Tx, run: Run): Promise<number> =>
  tx.count(
    `update enrichment_jobs set legacy_ledger = false,
       source_cursor = case when $3::json is null then source_cursor else json_build_object('of', $4::text, 'value', $3::json -> 'value') end
     where workspace_id = $1 and job_id = $2 and (legacy_ledger or $3::json is not null)`,
    [run.workspace_id, run.job_id, textOf(run.cursor_to), run.cursor_from?.of ?? null],
  )
