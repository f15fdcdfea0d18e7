import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { SuiteCase } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { cx } from '#web/ui/cx.ts'
import { JsonView } from '#web/ui/json-view.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { t } from '#web/words/language.ts'
import { milliseconds, OutcomeBadge, percent, tokensOf, usageInWords } from './pass-rate.tsx'
import { Verdicts } from './verdicts.tsx'

type Side = SuiteCase['run']

/** One record of a suite's run, compared with the same record of another run. */
export function CasePage() {
  const { suite_id, run_id, position } = useParams({ strict: false }) as Record<
    'suite_id' | 'run_id' | 'position',
    string
  >
  const { compare } = useSearch({ strict: false }) as { compare?: string }
  const suite = useApi('getSuite', { suite_id })
  const found = useApi('getSuiteCase', { suite_id, run_id, position, ...(compare && { compare }) })
  return (
    <Page
      title={`Record ${Number(position) + 1}`}
      crumbs={[
        { label: 'Suites', to: '/suites' },
        { label: suite.data?.name ?? 'Suite', to: `/suites/${suite_id}` },
        { label: 'Report', to: `/suites/${suite_id}/runs/${run_id}` },
      ]}
    >
      <Loaded of={found} what="the record">
        {({ run, compared, changes }) => (
          <>
            <div className={cx('mb-6 grid gap-4', compared && 'lg:grid-cols-2')}>
              {compared && <OneSide title="The other run" side={compared} />}
              <OneSide title="This run" side={run} />
            </div>
            {compared && (
              <Section title="What is different">
                <Table
                  label="Places at which the output differs"
                  rows={changes}
                  rowKey={(row) => row.path}
                  empty="The outputs are the same."
                  columns={[
                    { header: 'Where', cell: (row) => row.path || 'the whole output', width: '14rem' },
                    { header: 'The other run', cell: (row) => shown(row.before) },
                    { header: 'This run', cell: (row) => shown(row.after) },
                  ]}
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const shown = (value: unknown): string => (value === undefined ? t('nothing') : JSON.stringify(value))

function OneSide({ title, side }: { title: string; side: Side }) {
  return (
    <Card>
      <h2 className="mb-3 flex flex-wrap items-center gap-3 font-medium">
        {title} <OutcomeBadge outcome={side.outcome} />
        {side.execution_id && (
          <Link to={`/runs/${side.execution_id}`} className="font-normal text-accent hover:underline">
            Open the run
          </Link>
        )}
      </h2>
      <p className="mb-3 text-ink-2">
        {side.score !== null && `Score ${percent(side.score)}. `}Took {milliseconds(side.duration_ms)}. Models:{' '}
        {usageInWords(side.usage)}
        {side.recorded &&
          tokensOf(side.recorded.usage) > 0 &&
          `; ${usageInWords(side.recorded.usage)} when it was recorded`}
        .
      </p>
      {side.mocked.length > 0 && (
        <p className="mb-3 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
          Not in the record, so mocked: {side.mocked.map(({ node_id }) => node_id).join(', ')}.
        </p>
      )}
      <div className="flex flex-col gap-4">
        <JsonView value={side.actual ?? null} label="Workflow output" />
        <Verdicts checks={side.checks} />
      </div>
    </Card>
  )
}
