import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { SuiteOutcome, SuiteReport, SuiteRun } from '#sdk/types.generated'
import { api, useApi, useList } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Meter } from '#web/ui/meter.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { Duration, RelativeTime, useNow } from '#web/ui/time.tsx'
import { relativeTime } from '#web/ui/time-words.ts'
import { inSentence, t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import { Comparison } from './comparison.tsx'
import {
  effectWords,
  milliseconds,
  type Outcome,
  OutcomeBadge,
  outcomeWords,
  percent,
  tokensOf,
  usageInWords,
} from './pass-rate.tsx'
import { Verdicts } from './verdicts.tsx'

export function ReportPage() {
  const navigate = useNavigate()
  const { suite_id, run_id } = useParams({ strict: false }) as { suite_id: string; run_id: string }
  const { compare, outcome } = useSearch({ strict: false }) as { compare?: string; outcome?: Outcome }
  const suite = useApi('getSuite', { suite_id })
  const [shown, setShown] = useState<SuiteOutcome | null>(null)
  const report = useInfiniteQuery({
    queryKey: ['getSuiteRun', { suite_id, run_id, compare, outcome }, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      api.getSuiteRun(
        {
          suite_id,
          run_id,
          limit: 100,
          ...(compare && { compare }),
          ...(outcome && { outcome }),
          ...(pageParam && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: ({ state }) => (state.data?.pages[0]?.status === 'running' ? 1000 : false),
  })
  const runs = useList('listSuiteRuns', { suite_id, limit: 50 })
  const others = (runs.data ?? []).filter((run) => run.run_id !== run_id)
  const now = useNow()
  const go = (search: { compare?: string; outcome?: string }): void =>
    void navigate({ to: `/suites/${suite_id}/runs/${run_id}`, search: { compare, outcome, ...search } })
  const first = report.data?.pages[0]
  return (
    <Page
      wide
      title="Report"
      crumbs={[
        { label: 'Suites', to: '/suites' },
        { label: suite.data?.name ?? 'Suite', to: `/suites/${suite_id}` },
      ]}
    >
      <Loaded
        of={{ data: first, error: report.error, isPending: report.isPending, refetch: report.refetch }}
        what="the report"
      >
        {(found) => (
          <>
            <Summary report={found} />
            <div className="mb-5 flex flex-wrap gap-4">
              <Field label="Records that">
                <Select
                  value={outcome ?? ''}
                  onChange={(event) => go({ outcome: event.currentTarget.value })}
                  options={[
                    { value: '', label: 'All' },
                    ...Object.entries(outcomeWords).map(([value, label]) => ({ value, label })),
                  ]}
                />
              </Field>
              {others.length > 0 && (
                <Field label="Compared with">
                  <Select
                    value={compare ?? ''}
                    onChange={(event) => go({ compare: event.currentTarget.value })}
                    options={[
                      { value: '', label: 'Nothing' },
                      ...others.map((run) => ({ value: run.run_id, label: runInWords(run, now) })),
                    ]}
                  />
                </Field>
              )}
            </div>
            {found.comparison && <Comparison comparison={found.comparison} report={found} />}
            <Section title="Record by record">
              <Table
                label="Records"
                rows={report.data?.pages.flatMap(({ items }) => items) ?? []}
                rowKey={(row) => String(row.position)}
                more={{
                  hasMore: report.hasNextPage && !report.isFetchNextPageError,
                  loading: report.isFetchingNextPage,
                  load: () => void report.fetchNextPage(),
                }}
                empty={
                  <Empty title={found.status === 'running' ? 'The first results appear in a moment' : 'No records'} />
                }
                columns={[
                  {
                    header: 'Record',
                    width: '7rem',
                    cell: (row) => (
                      <Link
                        to={`/suites/${suite_id}/runs/${run_id}/cases/${row.position}`}
                        search={compare ? { compare } : {}}
                        className="text-accent hover:underline"
                      >
                        Record {row.position + 1}
                      </Link>
                    ),
                  },
                  { header: 'Outcome', cell: (row) => <OutcomeBadge outcome={row.outcome} />, width: '13rem' },
                  {
                    header: 'Score',
                    width: '5rem',
                    align: 'right',
                    secondary: true,
                    cell: (row) => (row.score === null ? '–' : percent(row.score)),
                  },
                  {
                    header: 'Took',
                    width: '6rem',
                    align: 'right',
                    secondary: true,
                    cell: (row) => milliseconds(row.duration_ms),
                  },
                  { header: 'Models', width: '8rem', secondary: true, cell: (row) => modelsOf(row) },
                  { header: 'Why', secondary: true, cell: (row) => <span className="text-ink-2">{whyOf(row)}</span> },
                  {
                    header: <span className="sr-only">Actions</span>,
                    width: '12rem',
                    align: 'right',
                    cell: (row) => (
                      <span className="flex justify-end gap-2">
                        <Button
                          size="small"
                          look="quiet"
                          onClick={() => setShown(row)}
                          aria-label={`Output of record ${row.position + 1}`}
                        >
                          Output
                        </Button>
                        {row.execution_id && (
                          <Link
                            to={`/runs/${row.execution_id}`}
                            className="self-center text-accent hover:underline"
                            aria-label={`Run of record ${row.position + 1}`}
                          >
                            View run
                          </Link>
                        )}
                      </span>
                    ),
                  },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={`Record ${(shown?.position ?? 0) + 1}`}
        size="large"
      >
        {shown && (
          <div className="flex flex-col gap-4">
            <JsonView value={shown.actual ?? null} label="Workflow output" />
            <Verdicts checks={shown.checks} />
          </div>
        )}
      </Dialog>
    </Page>
  )
}

const runInWords = (run: SuiteRun, now: number): string =>
  `${relativeTime(new Date(run.started_at), now)}${run.pass_rate === null ? '' : t(', {0} passed', [percent(run.pass_rate)])}`

const modelsOf = (row: SuiteOutcome): string =>
  tokensOf(row.usage) === 0 && row.recorded && tokensOf(row.recorded.usage) > 0
    ? t('{0} (recorded)', [usageInWords(row.recorded.usage)])
    : usageInWords(row.usage)

const whyOf = (row: SuiteOutcome): string =>
  row.checks
    .filter(({ passed }) => passed !== true)
    .map(({ kind, message }) => (message ? translateMessage(message) : t('the check "{0}" failed', [kind])))
    .join('; ')

function Summary({ report }: { report: SuiteReport }) {
  const done = report.passed + report.failed + report.errors + report.unjudged
  return (
    <Card className="mb-6">
      <Meter
        label={
          report.status === 'running'
            ? 'Running'
            : report.pass_rate === null
              ? 'Stopped'
              : `${percent(report.pass_rate)} passed`
        }
        value={report.status === 'running' ? done : report.passed}
        max={report.total}
        tone={report.status === 'running' ? 'accent' : report.pass_rate === 1 ? 'success' : 'waiting'}
        detail={`${report.passed} passed, ${report.failed} not as expected, ${report.errors} failed${report.unjudged > 0 ? t(', {0} not checked', [report.unjudged]) : ''} of ${report.total}`}
      />
      <p className="mt-3 text-ink-2">
        Started <RelativeTime at={report.started_at} />, took{' '}
        <Duration from={report.started_at} to={report.finished_at} />. Effects:{' '}
        {inSentence(effectWords[report.effects])}.{report.score !== null && ` Score ${percent(report.score)}.`} A record
        took {milliseconds(report.duration_ms.p50)} (p95 {milliseconds(report.duration_ms.p95)}). Models:{' '}
        {usageInWords(report.usage)}
        {tokensOf(report.recorded_usage) > 0 && `, ${usageInWords(report.recorded_usage)} when it was recorded`}.
      </p>
      {report.error && (
        <p role="alert" className="mt-2 text-danger">
          {translateMessage(report.error.message)}
        </p>
      )}
    </Card>
  )
}
