import type { Tx } from '#platform/db/pool'

// The states of a job: due, paused, running.

export const setDue = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  due: { full: boolean; retryFailed: boolean; sample: number | null; by: string },
): Promise<number> =>
  tx.count(
    // Combines the request with an earlier one that has not started yet. A whole run replaces a sample.
    `update enrichment_jobs set due_at = now(), due_full = $3 or (due_full and due_at <= now()), due_by = $4,
       due_retry_failed = $5 or (due_retry_failed and due_at <= now()),
       due_sample = case when due_at > now() or due_at is null then $6::integer when $6::integer is not null and due_sample is not null then greatest($6::integer, due_sample) end,
       status = case when status <> 'paused' then status when live then 'running' else 'idle' end, paused_reason = null
     from (select exists (select from ledger_runs where workspace_id = $1 and job_id = $2 and finished_at is null) as live) as its
     where workspace_id = $1 and job_id = $2`,
    [workspaceId, jobId, due.full, due.by, due.retryFailed, due.sample],
  )

export const pauseJob = (tx: Tx, workspaceId: string, jobId: string, reason: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs set status = 'paused', paused_reason = $3, updated_at = now()
     where workspace_id = $1 and job_id = $2 and status <> 'paused'`,
    [workspaceId, jobId, reason],
  )

/** Continues the interrupted run, or waits for the next one. */
export const resumeJob = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs set status = case when exists (select from ledger_runs r where r.workspace_id = $1 and r.job_id = $2
         and r.finished_at is null) then 'running' else 'idle' end,
       paused_reason = null, updated_at = now()
     where workspace_id = $1 and job_id = $2 and status = 'paused'`,
    [workspaceId, jobId],
  )

/** Releases parked runs, so that a process can take them. */
export const freeRuns = (tx: Tx, workspaceId: string, jobIds: string[]): Promise<number> =>
  tx.count(
    `update ledger_runs set lease_until = now() where workspace_id = $1 and job_id = any ($2) and finished_at is null
       and lease_until = 'infinity'`,
    [workspaceId, jobIds],
  )

export const cancelRun = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update ledger_runs set cancelling = true, lease_until = case when lease_until = 'infinity' then now() else lease_until end
     where workspace_id = $1 and job_id = $2 and finished_at is null`,
    [workspaceId, jobId],
  )

/** Called before the job is deleted. Returns what its live run uses. */
export const findLiveRun = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
): Promise<{ run_id: string; captured_version_id: string | null } | undefined> =>
  tx.maybe(
    'select run_id, captured_version_id from ledger_runs where workspace_id = $1 and job_id = $2 and finished_at is null',
    [workspaceId, jobId],
  )
