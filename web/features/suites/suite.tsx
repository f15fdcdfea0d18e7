import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Suite } from '#sdk/types.generated'
import { useAll, useApi, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Form, Select } from '#web/ui/field.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loading } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { useDatasetName } from '../datasets/use-dataset.ts'
import { mayRun } from '../workflows/role.ts'
import { deletionOf } from './deletion.ts'
import { SuiteForm } from './form.tsx'
import { effectWords, PassRate } from './pass-rate.tsx'

export function SuitePage() {
  const { suite_id } = useParams({ strict: false }) as { suite_id: string }
  const suite = useApi('getSuite', { suite_id })
  return (
    <LoadedPage of={suite} what="the suite" title="Suite" crumbs={[{ label: 'Suites', to: '/suites' }]}>
      {(found) => <Found suite={found} />}
    </LoadedPage>
  )
}

function Found({ suite }: { suite: Suite }) {
  const navigate = useNavigate()
  const { userId } = useRole()
  const [asking, setAsking] = useState(false)
  const { suite_id, workflow_id } = suite
  const workflow = useApi('getWorkflow', { workflow_id })
  const dataset = useDatasetName(suite.dataset_id)
  const versions = useAll('listVersions', { workflow_id, limit: 100 })
  const mayChange = workflow.data !== undefined && mayRun(workflow.data, userId)
  const update = useChange('updateSuite', { stale: ['getSuite', 'searchSuites'], done: 'Saved' })
  const remove = useChange('deleteSuite', { stale: ['searchSuites'], done: `${suite.name} was deleted` })
  const run = useChange('runSuite', { stale: ['getSuite', 'searchSuites', 'listSuiteRuns'] })
  const versionName = (id: string): string => {
    const found = versions.data?.find(({ version_id }) => version_id === id)
    if (!found) return t('a version')
    return found.active ? t('version {0} (active)', [found.number]) : t('version {0}', [found.number])
  }
  return (
    <Page
      title={suite.name}
      crumbs={[{ label: 'Suites', to: '/suites' }]}
      description={
        <>
          Of{' '}
          <Link to={`/workflows/${workflow_id}`} className="text-accent hover:underline">
            {workflow.data?.name ?? 'its workflow'}
          </Link>
          {suite.dataset_id && (
            <>
              , over{' '}
              <Link to={`/datasets/${suite.dataset_id}`} className="text-accent hover:underline">
                {dataset}
              </Link>
            </>
          )}
        </>
      }
      actions={
        mayChange && (
          <Button icon={Trash2} onClick={() => setAsking(true)}>
            Delete
          </Button>
        )
      }
    >
      {suite.dataset_id === null && (
        <p role="status" className="mb-6 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
          This suite has no dataset. Choose one below to run it.
        </p>
      )}
      {mayChange && suite.dataset_id !== null && (
        <Section title="Run">
          <Card className="max-w-2xl">
            <Form<{ version_id: string; effects: 'mock' | 'pinned' | 'live'; models: 'mock' | 'live' }>
              submit={
                <>
                  <Play aria-hidden className="size-4" /> Run
                </>
              }
              onSubmit={async ({ version_id, effects, models }) => {
                const how = { effects, models: effects === 'live' ? 'live' : models } as const
                const { run_id } = await run.mutateAsync({ suite_id, ...how, ...(version_id && { version_id }) })
                await navigate({ to: `/suites/${suite_id}/runs/${run_id}` })
              }}
            >
              <Field name="version_id" label="Version">
                <Select
                  defaultValue=""
                  options={[
                    { value: '', label: 'The active version' },
                    ...(versions.data ?? []).map(({ version_id }) => ({
                      value: version_id,
                      label: versionName(version_id),
                    })),
                  ]}
                />
              </Field>
              <Field
                name="effects"
                label="Effects"
                hint="A live run sends real requests and records the answers. Other runs send nothing and use that record."
              >
                <Select
                  defaultValue="mock"
                  options={[
                    { value: 'mock', label: 'Mocked: recorded answers, otherwise generated ones' },
                    { value: 'pinned', label: 'Recorded answers only' },
                    { value: 'live', label: 'Live: send for real and record' },
                  ]}
                />
              </Field>
              <Field name="models" label="Language models" hint="Call the models live to measure a changed prompt.">
                <Select
                  defaultValue="mock"
                  options={[
                    { value: 'mock', label: 'Same as other effects' },
                    { value: 'live', label: 'Call the models' },
                  ]}
                />
              </Field>
            </Form>
          </Card>
        </Section>
      )}
      <Runs suite={suite} versionName={versionName} />
      {mayChange && (
        <Section title="What it checks">
          <SuiteForm
            key={suite.updated_at}
            workflowId={workflow_id}
            suite={suite}
            submit="Save"
            onSave={(body) => update.mutateAsync({ suite_id, ...body })}
          />
        </Section>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        {...deletionOf(suite)}
        onConfirm={async () => {
          await remove.mutateAsync({ suite_id })
          await navigate({ to: '/suites' })
        }}
      />
    </Page>
  )
}

function Runs({ suite, versionName }: { suite: Suite; versionName(id: string): string }) {
  const { suite_id } = suite
  const runs = useList('listSuiteRuns', { suite_id, limit: 20 }, { isLive: ({ status }) => status === 'running' })
  const rows = runs.data ?? []
  const previous = (at: number): string | undefined => rows[at + 1]?.run_id
  return (
    <Section title="Runs">
      <Table
        label="Runs of the suite"
        rows={rows}
        more={runs.more}
        rowKey={(row) => row.run_id}
        rowTo={(row) => `/suites/${suite_id}/runs/${row.run_id}`}
        empty={runs.isPending ? <Loading rows={2} /> : <Empty title="No runs yet" />}
        columns={[
          {
            header: 'Started',
            link: true,
            cell: (row) => <RelativeTime at={row.started_at} />,
            width: '9rem',
          },
          { header: 'Of', secondary: true, cell: (row) => versionName(row.version_id) },
          { header: 'Effects', secondary: true, cell: (row) => effectWords[row.effects], width: '8rem' },
          { header: 'Result', cell: (row) => <PassRate run={row} />, width: '13rem' },
          {
            header: <span className="sr-only">Compare</span>,
            width: '10rem',
            align: 'right',
            secondary: true,
            cell: (row, at) =>
              previous(at) && (
                <Link
                  to={`/suites/${suite_id}/runs/${row.run_id}`}
                  search={{ compare: previous(at) }}
                  className="text-accent hover:underline"
                >
                  Compare
                </Link>
              ),
          },
        ]}
      />
    </Section>
  )
}
