import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useAll, useChange, useList } from '#web/api.ts'
import { Field, Form, Input, Select, withPresent } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { mayUse, type WorkflowRole } from '../workflows/role.ts'
import { WorkflowPage } from '../workflows/workflow-page.tsx'
import { countsOf, since, spanOptions } from './words.ts'

export const ReplaysPage = () => (
  <WorkflowPage section="Replays">
    {(workflow, role) => (
      <>
        {mayUse(role) && <NewReplay workflow={workflow} />}
        <Past workflow={workflow} role={role} />
      </>
    )}
  </WorkflowPage>
)

const states = [
  { value: '', label: 'Succeeded or failed' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
]

type Values = { version: string; status: string; span: string; limit: string }

/** Selects the version and the executions to compare it with. */
function NewReplay({ workflow: { workflow_id } }: { workflow: Workflow }) {
  const navigate = useNavigate()
  const { version: asked } = useSearch({ strict: false }) as { version?: string }
  const versions = useAll('listVersions', { workflow_id, limit: 100 })
  const [version, setVersion] = useState(asked ?? '')
  const create = useChange('createReplay', { stale: ['listReplays'] })
  const rows = versions.data ?? []
  if (rows.length === 0) return null
  const chosen = version || rows[0]!.version_id
  return (
    <Card className="mb-6">
      <Form<Values>
        submit="Replay"
        onSubmit={async ({ status, span, limit }) => {
          const from = since(span)
          const filter = { ...(status && { status: [status as 'succeeded'] }), ...(from && { from }) }
          const made = await create.mutateAsync({
            workflow_id,
            version_id: chosen,
            limit: Number(limit),
            ...(Object.keys(filter).length > 0 && { filter }),
          })
          void navigate({ to: `/replays/${made.replay_id}` })
        }}
      >
        <p className="text-ink-2">
          Compares a version with past runs. Effects and answers come from the record of each run. Nothing is sent.
        </p>
        <div className="flex flex-wrap gap-4">
          <Field label="Version" name="version" className="w-56">
            <Select
              value={chosen}
              onChange={(event) => setVersion(event.currentTarget.value)}
              options={withPresent(
                rows.map((row) => ({
                  value: row.version_id,
                  label: row.active ? t('Version {0} (active)', [row.number]) : t('Version {0}', [row.number]),
                })),
                chosen,
                '…',
              )}
            />
          </Field>
          <Field label="Runs" name="status" className="w-52">
            <Select defaultValue="" options={states} />
          </Field>
          <Field label="From" name="span" className="w-44">
            <Select defaultValue="" options={spanOptions} />
          </Field>
          <Field label="At most" name="limit" className="w-32">
            <Input type="number" min={1} max={1000} defaultValue={100} required />
          </Field>
        </div>
      </Form>
    </Card>
  )
}

function Past({ workflow: { workflow_id }, role }: { workflow: Workflow; role: WorkflowRole }) {
  const replays = useList('listReplays', { workflow_id }, { refetchInterval: 5_000 })
  const versions = useAll('listVersions', { workflow_id, limit: 100 })
  const numberOf = (id: string): string =>
    String(versions.data?.find(({ version_id }) => version_id === id)?.number ?? '…')
  return (
    <Section title="Replays">
      <Loaded of={replays} what="the replays">
        {(rows) => (
          <Table
            label="Replays"
            rows={rows}
            more={replays.more}
            rowKey={(row) => row.replay_id}
            rowTo={(row) => `/replays/${row.replay_id}`}
            empty={
              <Empty title="No replays yet">
                {mayUse(role) ? 'Choose a version above.' : 'Members of the workflow start them.'}
              </Empty>
            }
            columns={[
              { header: 'Version', link: true, width: '7rem', cell: (row) => `Version ${numberOf(row.version_id)}` },
              {
                header: 'Outcome',
                cell: (row) => (row.finished_at === null ? `${row.done} of ${row.total} done` : countsOf(row)),
              },
              {
                header: 'Started',
                width: '9rem',
                secondary: true,
                cell: (row) => <RelativeTime at={row.created_at} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
