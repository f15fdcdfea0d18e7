import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { watchJob } from '#sdk/sockets'
import type { EnrichmentJob, LedgerCounts } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'

export const useJobId = (): string => (useParams({ strict: false }) as { job_id: string }).job_id

export type JobRole = 'owner' | 'member' | 'viewer' | 'none'

/** Returns the user's role. A pinned job has the members of its workflow; a standalone job has its own members. */
export function jobRole(job: EnrichmentJob | undefined): JobRole {
  return job?.role === 'editor' ? 'member' : (job?.role ?? 'none')
}

export type Progress = { total: number; counts: LedgerCounts; rate: number | null; estimated_end_at: string | null }
export type LiveJob = { progress: Progress | null; state: 'live' | 'lost' | 'ended'; reason?: string | undefined }

const zero: LedgerCounts = { pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0, filtered: 0 }

/** Returns the live progress. Other data is fetched again when the socket reports a change. */
export function useLiveJob(jobId: string): LiveJob {
  const [live, setLive] = useState<LiveJob>({ progress: null, state: 'lost' })
  useEffect(() => {
    const watching = watchJob(api, jobId, {
      onState: (state, reason) => setLive((now) => ({ ...now, state, reason })),
      onFrame({ type, data }) {
        const update = data as Partial<Progress> & { last_run?: EnrichmentJob['last_run'] }
        switch (type) {
          case 'snapshot': {
            const run = update.last_run
            setLive((now) => ({
              ...now,
              progress: run ? { total: run.total, counts: run.counts, rate: null, estimated_end_at: null } : null,
            }))
            break
          }
          case 'job.started':
            setLive((now) => ({
              ...now,
              progress: {
                total: update.total ?? 0,
                counts: { ...zero, pending: update.total ?? 0 },
                rate: null,
                estimated_end_at: null,
              },
            }))
            break
          case 'job.progress':
          case 'job.finished':
            setLive((now) => ({
              ...now,
              progress: {
                total: update.total ?? now.progress?.total ?? 0,
                counts: update.counts ?? now.progress?.counts ?? zero,
                rate: type === 'job.finished' ? null : (update.rate ?? null),
                estimated_end_at: type === 'job.finished' ? null : (update.estimated_end_at ?? null),
              },
            }))
        }
        if (type !== 'job.progress') void invalidate('getJob', 'listJobs', 'listLedger', 'listJobRuns', 'listDatasets')
      },
    })
    return () => watching.close()
  }, [jobId])
  return live
}
