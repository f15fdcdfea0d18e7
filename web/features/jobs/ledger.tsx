import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import type { LedgerCounts, LedgerRecord } from '#sdk/types.generated'
import { api, useApi } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { saveFile } from '#web/ui/download.ts'
import { Field, Select } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { translateMessage } from '#web/words/messages.ts'
import { JobShell } from './job-page.tsx'
import { recordReasons, recordWords } from './record-words.ts'
import { useJobId } from './use-job.ts'

const statuses = ['failed', 'succeeded', 'running', 'pending', 'skipped', 'filtered'] as const
type Status = (typeof statuses)[number]

export function LedgerPage() {
  const job_id = useJobId()
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { status?: string; run_id?: string }
  const { run_id } = search
  const ofRun = { job_id, ...(run_id && { run_id }) }
  const head = useApi('listLedger', ofRun, { refetchInterval: 10_000 })
  const status: Status = statuses.find((known) => known === search.status) ?? firstOf(head.data?.counts)
  const ledger = useInfiniteQuery({
    queryKey: ['listLedger', { ...ofRun, status }, 'pages'],
    enabled: search.status !== undefined || head.data !== undefined,
    queryFn: ({ signal, pageParam }) =>
      api.listLedger({ ...ofRun, status, limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor ?? null,
    refetchInterval: 10_000,
  })
  const first = ledger.data?.pages[0]
  const rows = ledger.data?.pages.flatMap(({ items = [] }) => items)
  return (
    <JobShell section="Records">
      {() => (
        <>
          <div className="mb-4 flex flex-wrap items-end gap-4">
            <Field label="Status">
              <Select
                value={status}
                onChange={(event) =>
                  void navigate({
                    to: `/jobs/${job_id}/ledger`,
                    search: { status: event.currentTarget.value, ...(run_id && { run_id }) },
                  })
                }
                options={statuses.map((value) => ({
                  value,
                  label: first ? `${recordWords[value]} (${formatNumber(first.counts[value])})` : recordWords[value],
                }))}
              />
            </Field>
            {isExported(status) && (
              <>
                <Button icon={Download} onClick={() => void save(ofRun, status, 'csv')}>
                  CSV
                </Button>
                <Button icon={Download} onClick={() => void save(ofRun, status, 'jsonl')}>
                  JSON Lines
                </Button>
              </>
            )}
            <p className="pb-2 text-ink-2">
              {run_id ? 'Records of one run.' : 'Records of the newest run.'} Records whose input has not changed are
              not processed again. Failed records wait until they change, or until you try them again.
            </p>
          </div>
          <Loaded
            of={{ data: rows, error: ledger.error, isPending: ledger.isPending, refetch: ledger.refetch }}
            what="the ledger"
          >
            {(found) => (
              <Table
                label={`Records: ${recordWords[status]}`}
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
                  {
                    header: 'Record',
                    cell: (row) => row.key ?? formatNumber(row.position + 1),
                    align: 'right',
                    width: '8rem',
                  },
                  {
                    header: 'State',
                    cell: (row) => <StatusBadge status={row.status} label={recordWords[row.status]} />,
                    width: '10rem',
                    secondary: true,
                  },
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
                    header: 'Details',
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
                    width: '7rem',
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

/** Returns the status to show first: failures, then processed records, then the rest. */
const firstOf = (counts: LedgerCounts | undefined): Status =>
  (counts &&
    (['failed', 'running', 'succeeded', 'pending', 'skipped', 'filtered'] as const).find((one) => counts[one] > 0)) ??
  'succeeded'

type Exported = 'failed' | 'succeeded' | 'skipped' | 'filtered'
const isExported = (status: Status): status is Exported => status !== 'running' && status !== 'pending'

async function save(of: { job_id: string; run_id?: string }, status: Exported, format: 'csv' | 'jsonl'): Promise<void> {
  const file = (await api.exportJobRecords({ ...of, status, format })) as Blob
  saveFile(file, `records-${status}.${format}`)
}

function Reason({ row }: { row: LedgerRecord }) {
  if (row.error) {
    return (
      <span title={`${row.error.code}: ${translateMessage(row.error.message)}`}>
        <code className="mr-2 font-mono text-xs text-ink-2">{row.error.code}</code>
        {translateMessage(row.error.message)}
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
  return <span className="text-ink-2">{recordReasons[row.status] ?? '–'}</span>
}
