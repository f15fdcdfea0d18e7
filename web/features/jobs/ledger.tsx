import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { LedgerRecord } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { formatDuration, RelativeTime } from '#web/ui/time.tsx'
import { JobShell } from './job-page.tsx'
import { useJobId } from './use-job.ts'

const statuses = ['failed', 'succeeded', 'running', 'pending', 'skipped', 'filtered'] as const
type Status = (typeof statuses)[number]
const words: Record<Status, string> = {
  failed: 'Failed',
  succeeded: 'Succeeded',
  running: 'Running',
  pending: 'Pending',
  skipped: 'Unchanged',
  filtered: 'Filtered',
}

export function LedgerPage() {
  const job_id = useJobId()
  const navigate = useNavigate()
  const asked = (useSearch({ strict: false }) as { status?: string }).status
  const status: Status = statuses.find((known) => known === asked) ?? 'failed'
  const ledger = useInfiniteQuery({
    queryKey: ['listLedger', { job_id, status }, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      api.listLedger({ job_id, status, limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
    refetchInterval: 10_000,
  })
  const first = ledger.data?.pages[0]
  const rows = ledger.data?.pages.flatMap(({ items = [] }) => items)
  return (
    <JobShell section="Ledger">
      {() => (
        <>
          <div className="mb-4 flex flex-wrap items-end gap-4">
            <Field label="Status">
              <Select
                value={status}
                onChange={(event) =>
                  void navigate({ to: `/jobs/${job_id}/ledger`, search: { status: event.currentTarget.value } })
                }
                options={statuses.map((value) => ({
                  value,
                  label: first ? `${words[value]} (${formatNumber(first.counts[value])})` : words[value],
                }))}
              />
            </Field>
            <p className="pb-2 text-ink-2">
              Records of the newest run. Records that have not changed since they last succeeded are skipped.
            </p>
          </div>
          <Loaded
            of={{ data: rows, error: ledger.error, isPending: ledger.isPending, refetch: ledger.refetch }}
            what="the ledger"
          >
            {(found) => (
              <Table
                label={`${words[status]} records`}
                rows={found}
                rowKey={(row) => String(row.position)}
                more={{
                  hasMore: ledger.hasNextPage && !ledger.isFetchNextPageError,
                  loading: ledger.isFetchingNextPage,
                  load: () => void ledger.fetchNextPage(),
                }}
                empty={
                  <Empty title={status === 'failed' ? 'No failed records' : 'No records'}>
                    {first?.run_id === null && 'The job has not run yet.'}
                  </Empty>
                }
                columns={[
                  { header: 'Record', cell: (row) => formatNumber(row.position + 1), align: 'right', width: '6rem' },
                  { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '8rem' },
                  { header: 'Reason', cell: (row) => <Reason row={row} /> },
                  { header: 'Attempts', cell: (row) => row.attempt, align: 'right', width: '5rem', secondary: true },
                  {
                    header: 'Duration',
                    cell: (row) => (row.duration_ms === null ? '–' : formatDuration(row.duration_ms)),
                    align: 'right',
                    width: '7rem',
                    secondary: true,
                  },
                  {
                    header: 'Run',
                    cell: (row) =>
                      row.execution_id ? (
                        <Link
                          to={`/runs/${row.execution_id}`}
                          className="text-accent hover:underline"
                          aria-label={`Run of record ${row.position + 1}`}
                        >
                          Open
                        </Link>
                      ) : (
                        '–'
                      ),
                    width: '5rem',
                  },
                ]}
              />
            )}
          </Loaded>
        </>
      )}
    </JobShell>
  )
}

function Reason({ row }: { row: LedgerRecord }) {
  if (row.error) {
    return (
      <span title={`${row.error.code}: ${row.error.message}`}>
        <code className="mr-2 font-mono text-xs text-ink-2">{row.error.code}</code>
        {row.error.message}
      </span>
    )
  }
  if (row.due_at) {
    return (
      <span className="text-ink-2">
        will retry <RelativeTime at={row.due_at} />
      </span>
    )
  }
  return <span className="text-ink-3">–</span>
}
