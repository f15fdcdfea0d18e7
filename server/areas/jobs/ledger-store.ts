import type { BlobRef } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { pageRows } from '#platform/http/page'
import { type JobRun, jobRunList, type LedgerItem, type RecordStatus } from './schema.ts'
import { countsOf, runColumns, runWithDates } from './store.ts'

// The ledger as shown to people.

export type LedgerHead = { run_id: string; total: number; counts: JobRun['counts']; dataset_sha256: string | null }

/** Returns the ledger of the newest run, or of the given one. */
export const findLedger = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  runId: string | null,
): Promise<LedgerHead | undefined> =>
  tx.maybe<LedgerHead>(
    `select r.run_id, r.total, ${countsOf('r')} as counts, r.dataset_sha256 from enrichment_jobs j
     join ledger_runs r on r.workspace_id = j.workspace_id and r.job_id = j.job_id and r.run_id = coalesce($3, j.last_run_id)
     where j.workspace_id = $1 and j.job_id = $2`,
    [workspaceId, jobId, runId],
  )

export async function listRuns(tx: Tx, workspaceId: string, jobId: string, asked: ListInput) {
  const { items, next_cursor } = await readList<{ run: JobRun }>(tx, jobRunList, asked, {
    sql: `select json_build_object(${runColumns('r')}) as run, r.run_id, r.status, r.started_at, r.finished_at from ledger_runs r
      where r.workspace_id = $1 and r.job_id = $2`,
    values: [workspaceId, jobId],
  })
  return { items: items.map(({ run }) => runWithDates(run)), next_cursor }
}

export const findRun = async (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  runId: string,
): Promise<JobRun | undefined> => {
  const row = await tx.maybe<{ run: JobRun }>(
    `select json_build_object(${runColumns('r')}) as run from ledger_runs r where r.workspace_id = $1 and r.job_id = $2 and r.run_id = $3`,
    [workspaceId, jobId, runId],
  )
  return row && runWithDates(row.run)
}

/**
 * A record below the watermark without an earlier attempt has started, although its row shows this only when it ends.
 */
const BEGUN = `(r.status = 'running' or (r.status = 'pending' and r.due_at is null and r.attempt = 0 and r.position < u.claimed and u.finished_at is null))`
const conditions: Record<RecordStatus, string> = {
  pending: `r.status = 'pending' and not ${BEGUN}`,
  running: BEGUN,
  succeeded: `r.status = 'succeeded'`,
  failed: `r.status = 'failed' and r.error is not null`,
  skipped: `r.status = 'skipped'`,
  filtered: `r.status = 'filtered'`,
}

/** The result of an earlier run or of this run, found by its input. */
const RESULT = `left join ledger_results x on x.workspace_id = r.workspace_id and x.subject_id = coalesce(u.job_id, u.suite_id)
  and x.recipe_sha256 = u.recipe_sha256 and x.record_sha256 = coalesce(r.input_sha256, r.record_sha256)`

export const listRecords = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  status: RecordStatus,
  after: number,
  limit: number,
): Promise<LedgerItem[]> =>
  pageRows<LedgerItem>(
    tx,
    `select r.position, r.record_key as key, encode(r.record_sha256, 'hex') as record_sha256,
       case when $3 = 'failed' then x.record end as record, $3::text as status, r.attempt, r.error, r.execution_id,
       r.duration_ms, r.usage, r.due_at, r.finished_at
     from ledger_records r join ledger_runs u on u.workspace_id = r.workspace_id and u.run_id = r.run_id ${RESULT}
     where r.workspace_id = $1 and r.run_id = $2 and r.position > $4 and ${conditions[status]}
     order by r.position limit $5`,
    [workspaceId, runId, status, after, limit + 1],
  )

export type ExportedRow = {
  position: number
  key: string | null
  error: JsonObject | null
  record: JsonObject | null
  result: Json
  result_blob: BlobRef | null
}

/** Lists records of a run with their outcomes, in order. */
export const listExported = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  status: RecordStatus,
  after: number,
  limit: number,
): Promise<ExportedRow[]> =>
  tx.rows<ExportedRow>(
    `select r.position, r.record_key as key, r.error, x.record, x.result, x.result_blob
     from ledger_records r join ledger_runs u on u.workspace_id = r.workspace_id and u.run_id = r.run_id ${RESULT}
     where r.workspace_id = $1 and r.run_id = $2 and r.position > $3 and ${conditions[status]} order by r.position limit $4`,
    [workspaceId, runId, after, limit],
  )

export type ExportOf = {
  run_id: string
  name: string
  columns: string[] | null
  dataset_id: string | null
  dataset_sha256: string | null
  captured_version_id: string | null
}

export const findExportOf = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  runId: string | null,
): Promise<ExportOf | undefined> =>
  tx.maybe<ExportOf>(
    `select r.run_id, j.name, r.columns, r.dataset_id, r.dataset_sha256, case when r.finished_at is null then r.captured_version_id end as captured_version_id
     from enrichment_jobs j
     join ledger_runs r on r.workspace_id = j.workspace_id and r.job_id = j.job_id and r.run_id = coalesce($3, j.last_run_id)
     where j.workspace_id = $1 and j.job_id = $2`,
    [workspaceId, jobId, runId],
  )
