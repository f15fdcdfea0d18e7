import type { Tx } from '#platform/db/pool'
import type { Lease, Run } from './runs.ts'

// A run that its process lets go of before its end.

/**
 * Held to the end of the transaction. Those who pause, resume or cancel a job hold its row before they look at its run: a run that is laid
 * aside or ends in the same moment sees what they did, or they see what became of the run.
 */
export const lockJobOf = (tx: Tx, { workspace_id, job_id }: Run): Promise<unknown> =>
  tx.rows('select from enrichment_jobs where workspace_id = $1 and job_id = $2 for no key update', [
    workspace_id,
    job_id,
  ])

/** Lays the run aside until the job is resumed. One that was cancelled is taken up once more, to end. */
export async function parkRun(tx: Tx, run: Run, lease: Lease): Promise<number> {
  await lockJobOf(tx, run)
  return tx.count(
    `update ledger_runs set runner_id = null, lease_until = case when not cancelling and exists (select from enrichment_jobs j
         where j.workspace_id = $1 and j.job_id = $5 and j.status = 'paused') then 'infinity'::timestamptz else now() end
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null`,
    [run.workspace_id, run.run_id, lease.runnerId, lease.epoch, run.job_id],
  )
}

/** Gives it back at once, for a process that stops. */
export const releaseRun = (tx: Tx, run: Run, lease: Lease): Promise<number> =>
  tx.count(
    `update ledger_runs set runner_id = null, lease_until = now()
     where workspace_id = $1 and run_id = $2 and runner_id = $3 and epoch = $4 and finished_at is null`,
    [run.workspace_id, run.run_id, lease.runnerId, lease.epoch],
  )
