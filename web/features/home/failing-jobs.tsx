import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'

const reasons: Record<string, string> = {
  connection_revoked: 'Its connection was revoked. Store a new credential to resume.',
  credential_unusable: 'A credential it uses must be stored or connected again.',
  workflow_deleted: 'Its workflow was deleted. Choose another one.',
}

/** Returns the problem of a job that cannot continue without a user; a manual pause is not a problem. */
function problemOf(job: EnrichmentJob): string | undefined {
  if (job.status === 'paused') return job.paused_reason === null ? undefined : reasons[job.paused_reason]
  return job.status === 'failed' ? 'The last run failed. See the ledger for details.' : undefined
}

/** Jobs that failed or were stopped by something other than a person. */
export function FailingJobs() {
  const jobs = useApi('listJobs', { limit: 200 })
  const failing = (jobs.data?.items ?? []).flatMap((job) => {
    const problem = problemOf(job)
    return problem === undefined ? [] : [{ job, problem }]
  })
  if (failing.length === 0) return null
  return (
    <ul className="mt-2 flex flex-col gap-2">
      {failing.slice(0, 5).map(({ job, problem }) => (
        <li key={job.job_id}>
          <Link
            to={`/jobs/${job.job_id}`}
            className="flex items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3 hover:bg-hover"
          >
            <span className="grid size-8 shrink-0 place-items-center rounded-md bg-danger-soft text-danger">
              <TriangleAlert aria-hidden className="size-4" />
            </span>
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">{job.name}</span>
              <span className="block truncate text-ink-2">{problem}</span>
            </span>
            <StatusBadge status={job.status} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
