import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReplayReport, ReplayResult } from '#sdk/types.generated'
import { api, useApi, useChange } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { plural } from '#web/ui/format.ts'
import { Meter } from '#web/ui/meter.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { useVersion } from '../workflows/versions-of.ts'
import { BesideOriginal, inWords } from './difference.tsx'
import { countsOf, type Outcome, outcomeWords } from './words.ts'

const tones = { same: 'success', different: 'waiting', unreplayable: 'neutral' } as const

export function ReplayPage() {
  const navigate = useNavigate()
  const { replay_id } = useParams({ strict: false }) as { replay_id: string }
  const { outcome } = useSearch({ strict: false }) as { outcome?: Outcome }
  const [shown, setShown] = useState<ReplayResult | null>(null)
  const report = useInfiniteQuery({
    queryKey: ['getReplay', { replay_id, outcome }, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      api.getReplay(
        { replay_id, limit: 100, ...(outcome && { outcome }), ...(pageParam && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.finished_at === null ? 1000 : false),
  })
  const first = report.data?.pages[0]
  const workflow = useApi('getWorkflow', { workflow_id: first?.workflow_id ?? '' }, { enabled: first !== undefined })
  const { version } = useVersion(first?.workflow_id ?? null, first?.version_id ?? null)
  return (
    <Page
      title={version ? `Replay of version ${version.number}` : 'Replay'}
      crumbs={
        first
          ? [
              { label: workflow.data?.name ?? 'Workflow', to: `/workflows/${first.workflow_id}` },
              { label: 'Replays', to: `/workflows/${first.workflow_id}/replays` },
            ]
          : []
      }
      actions={first?.finished_at === null && <Cancel replay_id={replay_id} />}
    >
      <Loaded
        of={{ data: first, error: report.error, isPending: report.isPending, refetch: report.refetch }}
        what="the replay"
      >
        {(found) => (
          <>
            <Summary report={found} />
            <Field label="Runs that are" className="mb-5 w-56">
              <Select
                value={outcome ?? ''}
                onChange={(event) =>
                  void navigate({
                    to: `/replays/${replay_id}`,
                    search: { outcome: event.currentTarget.value || undefined } as never,
                    replace: true,
                  })
                }
                options={[
                  { value: '', label: 'All' },
                  ...Object.entries(outcomeWords).map(([value, label]) => ({ value, label })),
                ]}
              />
            </Field>
            <Table
              label="Runs"
              rows={report.data?.pages.flatMap(({ items }) => items) ?? []}
              rowKey={(row) => String(row.position)}
              more={{
                hasMore: report.hasNextPage && !report.isFetchNextPageError,
                loading: report.isFetchingNextPage,
                load: () => void report.fetchNextPage(),
              }}
              empty={<Empty title={found.finished_at === null ? 'The first results appear in a moment' : 'No runs'} />}
              columns={[
                {
                  header: 'Outcome',
                  width: '12rem',
                  cell: (row) => <Badge tone={tones[row.outcome]}>{outcomeWords[row.outcome]}</Badge>,
                },
                { header: 'What', secondary: true, cell: (row) => <span className="text-ink-2">{inWords(row)}</span> },
                {
                  header: <span className="sr-only">Actions</span>,
                  width: '11rem',
                  align: 'right',
                  cell: (row) => (
                    <span className="flex justify-end gap-2">
                      {row.difference && (
                        <Button
                          size="small"
                          look="quiet"
                          aria-label={`Compare run ${row.position + 1}`}
                          onClick={() => setShown(row)}
                        >
                          Compare
                        </Button>
                      )}
                      <Link
                        to={`/runs/${row.execution_id}` as string}
                        aria-label={`Original run ${row.position + 1}`}
                        className="self-center text-accent hover:underline"
                      >
                        Original
                      </Link>
                    </span>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      <BesideOriginal result={shown} onClose={() => setShown(null)} />
    </Page>
  )
}

function Cancel({ replay_id }: { replay_id: string }) {
  const cancel = useChange('cancelReplay', { stale: ['getReplay', 'listReplays'], failed: 'It could not be cancelled' })
  return (
    <Button pending={cancel.isPending} onClick={() => cancel.mutate({ replay_id })}>
      Cancel replay
    </Button>
  )
}

function Summary({ report }: { report: ReplayReport }) {
  const isOver = report.finished_at !== null
  return (
    <Card className="mb-6">
      <Meter
        label={isOver ? countsOf(report) : 'Replaying'}
        value={isOver ? report.same : report.done}
        max={report.total}
        tone={!isOver ? 'accent' : report.different === 0 ? 'success' : 'waiting'}
        detail={isOver ? `of ${report.total} runs` : `${report.done} of ${report.total} runs, ${countsOf(report)}`}
      />
      <p className="mt-3 text-ink-2">
        Started <RelativeTime at={report.created_at} />.{' '}
        {report.mocked > 0 &&
          `In ${plural(report.mocked, 'run', 'runs')} something was mocked, because the record has no answer. `}
        {report.status === 'cancelled' && 'It was cancelled before its end.'}
      </p>
      {report.error && (
        <p role="alert" className="mt-2 text-danger">
          {translateMessage(report.error.message)}
        </p>
      )}
    </Card>
  )
}
