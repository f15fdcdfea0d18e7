import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useApi } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Card, FactRow, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { useKindTitles } from '../runs/kind-titles.ts'
import { useWorkflowNames } from '../runs/run-table.tsx'
import { RunChart } from './chart.tsx'
import { columnsOf, costWords, rangeOf, share, spans } from './words.ts'

type Search = { days?: string | number; workflow_id?: string }
type Asked = { from: string; workflow_id?: string }

/** What executions did, how long they took, what they cost: for the workspace, or for one workflow. */
export function InsightsPage() {
  const navigate = useNavigate()
  const { days: asked, workflow_id } = useSearch({ strict: false }) as Search
  const days = spans.some(({ value }) => value === String(asked)) ? Number(asked) : 7
  const nameOf = useWorkflowNames()
  const { from, bucket } = rangeOf(days, Date.now())
  const of: Asked = { from, ...(workflow_id && { workflow_id }) }
  const go = (search: Search): void => void navigate({ to: '/insights', search })
  return (
    <Page
      title="Insights"
      description={
        workflow_id ? `Runs of ${nameOf(workflow_id)}, in UTC.` : 'Runs of workflows that you may see, in UTC.'
      }
      actions={
        <>
          {workflow_id && <Button onClick={() => go({ days })}>All workflows</Button>}
          <Field name="days" label="Time" hideLabel>
            <Select
              options={spans}
              value={String(days)}
              onChange={(event) => go({ days: event.target.value, ...(workflow_id && { workflow_id }) })}
            />
          </Field>
        </>
      }
    >
      <Runs of={of} bucket={bucket} />
      {!workflow_id && <Workflows of={of} days={days} />}
      <Errors of={of} />
      <Steps of={of} />
      <Cost of={of} />
    </Page>
  )
}

function Runs({ of, bucket }: { of: Asked; bucket: 'hour' | 'day' }) {
  const runs = useApi('getRunInsights', { ...of, bucket }, { refetchInterval: 30_000 })
  return (
    <Section title="Runs over time">
      <Loaded of={runs} what="the figures">
        {({ items, total }) => (
          <Card>
            <RunChart columns={columnsOf(items, of.from, bucket, Date.now())} />
            <div className="mt-4">
              <FactRow
                facts={[
                  ['Runs', formatNumber(total.total)],
                  ['Failed', share(total.failed + total.timed_out, total.total)],
                  ['Duration p50', total.duration_ms ? formatDuration(total.duration_ms.p50) : '–'],
                  ['Duration p95', total.duration_ms ? formatDuration(total.duration_ms.p95) : '–'],
                  [
                    'Waiting for people p50',
                    total.waiting_for_people_ms ? formatDuration(total.waiting_for_people_ms.p50) : '–',
                  ],
                ]}
              />
            </div>
          </Card>
        )}
      </Loaded>
    </Section>
  )
}

function Workflows({ of, days }: { of: Asked; days: number }) {
  const groups = useApi('getRunInsights', { ...of, group_by: 'workflow' })
  return (
    <Section title="By workflow">
      <Loaded of={groups} what="the workflows">
        {({ items }) => (
          <Table
            label="By workflow"
            rows={items}
            rowKey={(row) => row.workflow_id ?? 'none'}
            empty={<Empty title="No run has ended in this time" />}
            columns={[
              {
                header: 'Workflow',
                cell: (row) =>
                  row.workflow_id ? (
                    <Link
                      to="/insights"
                      search={{ days, workflow_id: row.workflow_id }}
                      className="font-medium hover:underline"
                    >
                      {row.name ?? row.workflow_id}
                    </Link>
                  ) : (
                    <span className="text-ink-2">System workflows and jobs</span>
                  ),
              },
              { header: 'Runs', cell: (row) => formatNumber(row.total), align: 'right', width: '5rem' },
              {
                header: 'Failed',
                cell: (row) => share(row.failed + row.timed_out, row.total),
                align: 'right',
                width: '8rem',
              },
              {
                header: 'Duration p95',
                cell: (row) => (row.duration_ms ? formatDuration(row.duration_ms.p95) : '–'),
                align: 'right',
                width: '10rem',
                secondary: true,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Errors({ of }: { of: Asked }) {
  const groups = useApi('getRunInsights', { ...of, group_by: 'error' })
  return (
    <Section title="Failures by error">
      <Loaded of={groups} what="the failures">
        {({ items }) => (
          <Table
            label="Failures by error"
            rows={items.filter((row) => row.error_code)}
            rowKey={(row) => row.error_code!}
            empty={<Empty title="No run has failed in this time" />}
            columns={[
              {
                header: 'Error',
                cell: (row) => (
                  <Link
                    to="/runs"
                    search={{ error_code: row.error_code, workflow_id: of.workflow_id } as never}
                    className="font-mono text-xs hover:underline"
                  >
                    {row.error_code}
                  </Link>
                ),
              },
              { header: 'Runs', cell: (row) => formatNumber(row.total), align: 'right', width: '6rem' },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Steps({ of }: { of: Asked }) {
  const steps = useApi('getStepInsights', { ...of, limit: 10 })
  const titleOf = useKindTitles()
  return (
    <Section title="Slowest steps" description="Waiting for people and time included.">
      <Loaded of={steps} what="the steps">
        {({ items }) => (
          <Table
            label="Slowest steps"
            rows={items}
            rowKey={(row) => `${row.workflow_id} ${row.node_id} ${row.type}`}
            empty={<Empty title="No step has run in this time" />}
            columns={[
              {
                header: 'Step',
                cell: (row) => (
                  <>
                    <code className="font-mono text-xs font-medium">{row.node_id}</code>{' '}
                    <span className="text-ink-2">{titleOf(row.type)}</span>
                  </>
                ),
              },
              { header: 'Workflow', cell: (row) => row.name ?? '–', secondary: true },
              { header: 'Runs', cell: (row) => formatNumber(row.runs), align: 'right', width: '6rem', secondary: true },
              { header: 'Failed', cell: (row) => share(row.failed, row.runs), align: 'right', width: '8rem' },
              { header: 'On average', cell: (row) => formatDuration(row.mean_ms), align: 'right', width: '7rem' },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Cost({ of }: { of: Asked }) {
  const usage = useApi('getUsageInsights', { ...of, group_by: 'model' })
  return (
    <Section
      title="Language models"
      description="As reported by the provider, otherwise by list prices. Budgets limit the cost."
      actions={
        <Link to="/budgets" className="text-accent hover:underline">
          Budgets
        </Link>
      }
    >
      <Loaded of={usage} what="the cost">
        {({ items, total }) => (
          <>
            <Table
              label="Language models"
              rows={items}
              rowKey={(row) => row.model!}
              empty={<Empty title="No model was called in this time" />}
              columns={[
                { header: 'Model', cell: (row) => <code className="font-mono text-xs">{row.model}</code> },
                { header: 'Calls', cell: (row) => formatNumber(row.calls), align: 'right', width: '6rem' },
                {
                  header: 'Tokens',
                  cell: (row) => formatNumber(row.input_tokens + row.output_tokens),
                  align: 'right',
                  width: '8rem',
                  secondary: true,
                },
                {
                  header: 'Cost',
                  cell: (row) => costWords(row),
                  align: 'right',
                  width: '7rem',
                },
              ]}
            />
            {items.length > 1 && <p className="mt-2 text-right text-ink-2">Together {costWords(total)}</p>}
          </>
        )}
      </Loaded>
    </Section>
  )
}
