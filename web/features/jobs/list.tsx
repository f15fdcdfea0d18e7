import { ListChecks, Plus } from 'lucide-react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { cronInWords } from '#web/ui/cron.ts'
import { formatNumber } from '#web/ui/format.ts'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { JobMenu } from './row-menu.tsx'

export function JobsPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const jobs = useList('listJobs', { limit: 100, ...search.query }, { refetchInterval: 5000 })
  const make = canWrite && (
    <ButtonLink to="/jobs/new" look="primary" icon={Plus}>
      New job
    </ButtonLink>
  )
  return (
    <ListPage
      title="Jobs"
      description="A job runs a workflow for every record of a dataset, once or on a schedule, and tracks each record."
      what="the jobs"
      list={jobs}
      search={search}
      create={make}
      empty={{
        icon: ListChecks,
        title: 'No jobs yet',
        text: canWrite
          ? 'Choose a workflow and a dataset. The job processes it record by record.'
          : 'You can see jobs that you were invited to and jobs of workflows that you are a member of.',
      }}
      rowKey={(row) => row.job_id}
      rowTo={(row) => `/jobs/${row.job_id}`}
      columns={[
        {
          header: 'Name',
          link: true,
          cell: (row) => row.name,
        },
        { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '8rem' },
        { header: 'Schedule', cell: (row) => <When job={row} />, secondary: true },
        { header: 'Last run', cell: (row) => <LastRun job={row} />, width: '17rem', secondary: true },
        {
          header: 'Next run',
          width: '8rem',
          wide: true,
          cell: (row) => <RelativeTime at={row.status === 'paused' ? null : row.due_at} never="–" />,
        },
        { ...menuColumn, cell: (row) => <JobMenu job={row} /> },
      ]}
    />
  )
}

const When = ({ job }: { job: EnrichmentJob }) =>
  job.schedule ? (
    <span title={`${job.schedule.cron} (${job.schedule.timezone})`}>{cronInWords(job.schedule.cron)}</span>
  ) : (
    <span className="text-ink-2">manual</span>
  )

function LastRun({ job }: { job: EnrichmentJob }) {
  const run = job.last_run
  if (!run) return <span className="text-ink-3">never</span>
  return (
    <span className="text-ink-2">
      <RelativeTime at={run.finished_at ?? run.started_at} />, {formatNumber(run.counts.succeeded + run.counts.skipped)}{' '}
      of {formatNumber(run.total)}
      {run.counts.failed > 0 && <span className="text-danger">, {formatNumber(run.counts.failed)} failed</span>}
    </span>
  )
}
