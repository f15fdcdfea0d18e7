import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import { emitEvent } from '#platform/outbox'

// The events of a job for sockets, and the notifications that wake the runners of jobs.

/** The number of events that a reconnecting socket can catch up on. Older events are reported as a gap. */
const KEPT_EVENTS = 1000
export const JOB_HINTS = 'jobs'
/** A job or a run has become due. */
export const DUE_HINTS = 'jobs_due'

/**
 * Wakes the runners after a run was created or released. The notification is part of the transaction: a hint that is
 * sent after the commit is lost if the process crashes, and the job would wait for the next poll.
 */
export const wakeRunners = (tx: Tx): Promise<unknown> => tx.rows('select pg_notify($1, $2)', [DUE_HINTS, ''])

export const appendEvent = async (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  type: 'job.started' | 'job.progress' | 'job.finished' | 'job.paused',
  data: Json,
): Promise<void> => {
  const row = await tx.maybe<{ event_seq: number }>(
    'update enrichment_jobs set event_seq = event_seq + 1 where workspace_id = $1 and job_id = $2 returning event_seq',
    [workspaceId, jobId],
  )
  if (!row) return
  await tx.count('insert into job_events (workspace_id, job_id, seq, type, data) values ($1, $2, $3, $4, $5)', [
    workspaceId,
    jobId,
    row.event_seq,
    type,
    JSON.stringify(data),
  ])
  if (row.event_seq % 100 === 0)
    await tx.count('delete from job_events where workspace_id = $1 and job_id = $2 and seq <= $3', [
      workspaceId,
      jobId,
      row.event_seq - KEPT_EVENTS,
    ])
  tx.hint(JOB_HINTS, jobId)
  if (type !== 'job.progress')
    await emitEvent(tx, {
      workspaceId,
      type,
      subjectId: jobId,
      seq: row.event_seq,
      data: { job_id: toWire('job', jobId), ...(isObject(data) ? data : {}) },
    })
}
