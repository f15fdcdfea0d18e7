import { ListChecks, Plus } from 'lucide-react'
import type { EnrichmentJob } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { cronInWords } from '#web/ui/cron.ts'
import { formatNumber } from '#web/ui/format.ts'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

export function JobsPage() {
  const { canWrite } = useRole()
  const jobs = useList('listJobs', { limit: 100 }, { refetchInterval: 5000 })
  const make = canWrite && (
    <ButtonLink to="/jobs/new" look="primary" icon={Plus}>
      New job
    </ButtonLink>
  )
  return (
    <Page
      title="Jobs"
      description="A job runs a workflow for every record of a dataset, once or on a schedule, and tracks each record."
      actions={make}
    >
      <Loaded of={jobs} what="the jobs">
        {(rows) => (
          <Table
            label="Jobs"
            rows={rows}
            rowKey={(row) => row.job_id}
            rowTo={(row) => `/jobs/${row.job_id}`}
            more={jobs.more}
            empty={
              <Empty icon={ListChecks} title="No jobs yet" action={make}>
                {canWrite
                  ? 'Choose a workflow and a dataset. The job processes it record by record.'
                  : 'You can see jobs you were invited to and jobs of workflows you are a member of.'}
              </Empty>
            }
            columns={[
              {
                header: 'Name',
                link: true,
                cell: (row) => row.name,
              },
              { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '8rem' },
              { header: 'When', cell: (row) => <When job={row} />, secondary: true },
              { header: 'Last run', cell: (row) => <LastRun job={row} />, width: '17rem', secondary: true },
            ]}
          />
        )}
      </Loaded>
    </Page>
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
