import type { Tx } from '#platform/db/pool'
import { pageRows } from '#platform/http/page'
import type { LastRun, LedgerItem } from './schema.ts'
import { countsOf } from './store.ts'

// The ledger, as people see it.

export type LedgerHead = { run_id: string; total: number; counts: LastRun['counts']; dataset_sha256: string | null }

export const findLedger = (tx: Tx, workspaceId: string, jobId: string): Promise<LedgerHead | undefined> =>
  tx.maybe<LedgerHead>(
    `select r.run_id, r.total, ${countsOf('r')} as counts, r.dataset_sha256 from enrichment_jobs j
     join ledger_runs r on r.workspace_id = j.workspace_id and r.run_id = j.last_run_id
     where j.workspace_id = $1 and j.job_id = $2`,
    [workspaceId, jobId],
  )

/** A record below the watermark that was not tried before has been begun, although its row says so only when it ends. */
const BEGUN = `(r.status = 'running' or (r.status = 'pending' and r.due_at is null and r.attempt = 0 and r.position < u.claimed and u.finished_at is null))`
const conditions: Record<string, string> = {
  pending: `r.status = 'pending' and not ${BEGUN}`,
  running: BEGUN,
  succeeded: `r.status = 'succeeded'`,
  failed: `r.status = 'failed' and r.error is not null`,
  skipped: `r.status = 'skipped'`,
}

export const listRecords = (
  tx: Tx,
  workspaceId: string,
  runId: string,
  status: string,
  after: number,
  limit: number,
): Promise<LedgerItem[]> =>
  pageRows<LedgerItem>(
    tx,
    `select r.position, encode(r.record_sha256, 'hex') as record_sha256, $3::text as status, r.attempt, r.error, r.execution_id,
       r.duration_ms, r.usage, r.due_at, r.finished_at
     from ledger_records r join ledger_runs u on u.workspace_id = r.workspace_id and u.run_id = r.run_id
     where r.workspace_id = $1 and r.run_id = $2 and r.position > $4 and ${conditions[status]}
     order by r.position limit $5`,
    [workspaceId, runId, status, after, limit + 1],
  )
