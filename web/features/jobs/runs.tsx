import { Link } from '@tanstack/react-router'
import type { JobRun } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { JobShell } from './job-page.tsx'
import { recordWords } from './record-words.ts'
import { kindOf } from './run-kind.ts'
import { useJobId } from './use-job.ts'

/** Every stored run, with its figures and a link to its records. */
export function JobRunsPage() {
  const job_id = useJobId()
  const runs = useList('listJobRuns', { job_id, limit: 50 }, { refetchInterval: 10_000 })
  return (
    <JobShell section="Runs">
      {() => (
        <Loaded of={runs} what="the runs of the job">
          {(rows) => (
            <Table
              label="Runs of the job"
              rows={rows}
              rowKey={(run) => run.run_id}
              more={runs.more}
              empty={<Empty title="No runs yet">Run the job to see its runs here.</Empty>}
              columns={[
                {
                  header: 'Started',
                  width: '12rem',
                  cell: (run) => (
                    <>
                      <Link
                        to={`/jobs/${job_id}/ledger`}
                        search={{ run_id: run.run_id }}
                        className="text-accent hover:underline"
                      >
                        <RelativeTime at={run.started_at} />
                      </Link>
                      <span className="block truncate text-xs text-ink-2">{kindOf(run)}</span>
                    </>
                  ),
                },
                { header: 'State', cell: (run) => <StatusBadge status={stateOf(run)} />, width: '7rem' },
                {
                  header: 'Duration',
                  cell: (run) => <Duration from={run.started_at} to={run.finished_at} />,
                  width: '6rem',
                  secondary: true,
                },
                {
                  header: 'Records',
                  cell: (run) => formatNumber(run.total),
                  align: 'right',
                  width: '5.5rem',
                  secondary: true,
                },
                {
                  header: 'Succeeded',
                  cell: (run) => formatNumber(run.counts.succeeded),
                  align: 'right',
                  width: '6rem',
                  secondary: true,
                },
                { header: 'Failed', cell: (run) => formatNumber(run.counts.failed), align: 'right', width: '8rem' },
                {
                  header: recordWords.skipped,
                  cell: (run) => formatNumber(run.counts.skipped),
                  align: 'right',
                  width: '6rem',
                  secondary: true,
                },
                {
                  header: recordWords.filtered,
                  cell: (run) => formatNumber(run.counts.filtered),
                  align: 'right',
                  width: '6.5rem',
                  secondary: true,
                },
                {
                  header: 'Reason',
                  cell: (run) =>
                    run.error ? <span title={run.error.message}>{translateMessage(run.error.message)}</span> : '–',
                  secondary: true,
                },
              ]}
            />
          )}
        </Loaded>
      )}
    </JobShell>
  )
}

const stateOf = ({ status }: JobRun): string => (status === 'starting' || status === 'writing' ? 'running' : status)
