import type { Tx } from '#platform/db/pool'
import type { Lease, Run } from './runs.ts'

// The statements with which a process gives up a run before its end.

/**
 * Locks the job until the end of the transaction. Requests that pause, resume or cancel a job lock its row before they
 * read its run. So a run that is parked or ends at the same moment sees these requests, or they see the new state of
 * the run.
 */
export const lockJobOf = (tx: Tx, { workspace_id, job_id }: Run): Promise<unknown> =>
  tx.rows('select from enrichment_jobs where workspace_id = $1 and job_id = $2 for no key update', [
    workspace_id,
    job_id,
  ])

/** Parks the run until the job is resumed. A cancelled run is taken up once more, to end it. */
export async function parkRun(tx: Tx, run: Run, lease: Lease): Promise<number> {
  await lockJobOf(tx, run)
  return tx.count(
    `update ledger_runs set runner_id = null, lease_until = case when not cancelling and exists (select from enrichment_jobs j
         where j.workspace_id = $1 and j.job_id = $5 and j.status = 'paused') then 'infinity'::timestamptz else now() end
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null`,
    [run.workspace_id, run.run_id, lease.runnerId, lease.epoch, run.job_id],
  )
}

/** Releases the run at once, because the process stops. */
export const releaseRun = (tx: Tx, run: Run, lease: Lease): Promise<number> =>
  tx.count(
    `update ledger_runs set runner_id = null, lease_until = now()
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null`,
    [run.workspace_id, run.run_id, lease.runnerId, lease.epoch],
  )
