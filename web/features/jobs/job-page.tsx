import type { ReactNode } from 'react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { TabLinks } from '#web/ui/tabs.tsx'
import { JobActions } from './actions.tsx'
import { type JobRole, jobRole, useJobId } from './use-job.ts'

/** The frame around each section of a job. */
export function JobShell({
  section,
  children,
}: {
  section: string
  children(job: EnrichmentJob, role: JobRole): ReactNode
}) {
  const job_id = useJobId()
  const job = useApi('getJob', { job_id }, { refetchInterval: 10_000 })
  const role = jobRole(job.data)
  return (
    <Page
      title={job.data ? `${job.data.name} · ${section}` : section}
      heading={job.data?.name ?? 'Job'}
      crumbs={[{ label: 'Jobs', to: '/jobs' }]}
      description={job.data && <StatusBadge status={job.data.status} />}
      actions={job.data && (role === 'owner' || role === 'member') && <JobActions job={job.data} />}
    >
      <Loaded of={job} what="the job">
        {(found) => (
          <>
            <TabLinks
              label="Sections of the job"
              tabs={[
                { to: `/jobs/${job_id}`, label: 'Overview', exact: true },
                { to: `/jobs/${job_id}/ledger`, label: 'Records' },
                { to: `/jobs/${job_id}/runs`, label: 'Runs' },
                { to: `/jobs/${job_id}/members`, label: 'Members' },
                { to: `/jobs/${job_id}/settings`, label: 'Settings' },
              ]}
            />
            {children(found, role)}
          </>
        )}
      </Loaded>
    </Page>
  )
}
