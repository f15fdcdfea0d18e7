import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus, Trash2, Workflow as WorkflowIcon } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchField, useSearchText } from '#web/ui/search.tsx'
import { refusalsIn, type Selection, SelectionBar, useSelection } from '#web/ui/selection.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { ImportN8nButton } from './import-n8n.tsx'
import { ImportButton } from './portable.tsx'
import { StarterCards } from './starter-cards.tsx'

export function WorkflowsPage() {
  const { canWrite, userId } = useRole()
  const { scope = 'own' } = useSearch({ strict: false }) as { scope?: 'own' | 'workspace' }
  const navigate = useNavigate()
  const search = useSearchText()
  const workflows = useList('listWorkflows', { scope, limit: 200, ...search.query })
  const { nameOf } = usePeople()
  const selection = useSelection(workflows.data, {
    keyOf: ({ workflow_id }) => workflow_id,
    nameOf: ({ name }) => name,
    can: ({ kind, owner_id }) => kind === 'user' && owner_id === userId,
  })
  return (
    <Page
      title="Workflows"
      description="Automations in this workspace."
      actions={
        canWrite && (
          <>
            <ImportButton />
            <ImportN8nButton />
            <ButtonLink to="/workflows/new" look="primary" icon={Plus}>
              New workflow
            </ButtonLink>
          </>
        )
      }
    >
      <div className="mb-4 flex flex-wrap gap-3">
        <SearchField search={search} placeholder="Search by name" />
        <Field label="Show" hideLabel className="w-60">
          <Select
            value={scope}
            onChange={(event) =>
              void navigate({ to: '/workflows', search: { scope: event.target.value } as never, replace: true })
            }
            options={[
              { value: 'own', label: 'Mine and shared with me' },
              { value: 'workspace', label: 'All in this workspace' },
            ]}
          />
        </Field>
      </div>
      <Loaded of={workflows} what="the workflows">
        {(all) => {
          // What is part of the program comes last: people look for their own.
          const rows = [...all].sort((a, b) => Number(a.kind === 'system') - Number(b.kind === 'system'))
          const own = all.filter(({ kind }) => kind === 'user')
          return (
            <>
              {own.length === 0 && search.query.q === undefined && canWrite && (
                <div className="mb-6">
                  <p className="mb-3 text-ink-2">You have no workflows yet. Start with a working example:</p>
                  <StarterCards withBlank />
                </div>
              )}
              <SelectionBar selection={selection}>
                <DeleteChosen selection={selection} />
              </SelectionBar>
              <Table
                label="Workflows"
                rows={rows}
                more={workflows.more}
                rowKey={({ workflow_id }) => workflow_id}
                rowTo={({ workflow_id }) => `/workflows/${workflow_id}`}
                empty={emptyWith(search, <Empty icon={WorkflowIcon} title="No workflows yet" />)}
                columns={[
                  ...(selection.column ? [selection.column] : []),
                  {
                    header: 'Name',
                    link: true,
                    cell: (row) => row.name,
                    after: (row) =>
                      row.kind === 'system' ? (
                        <Badge>built in</Badge>
                      ) : (
                        row.active_version_id === null && <Badge tone="waiting">no version</Badge>
                      ),
                  },
                  {
                    header: 'Owner',
                    width: '11rem',
                    secondary: true,
                    cell: (row) => (row.kind === 'system' ? 'Heddle' : nameOf(row.owner_id)),
                  },
                  {
                    header: 'Changed',
                    width: '9rem',
                    secondary: true,
                    cell: (row) => <RelativeTime at={row.updated_at} never="–" />,
                  },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

function DeleteChosen({ selection }: { selection: Selection<Workflow> }) {
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteWorkflows', { stale: ['listWorkflows'] })
  const count = selection.chosen.length
  return (
    <>
      <Button icon={Trash2} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={count === 1 ? `Delete ${selection.chosen[0]?.name}?` : `Delete ${count} workflows?`}
        consequence="Their webhooks, schedules and widgets stop at once, and jobs pause. Workflows with live runs stay: cancel those runs first."
        action={count === 1 ? 'Delete workflow' : 'Delete workflows'}
        onConfirm={async () => {
          const { items } = await remove.mutateAsync({
            workflow_ids: selection.chosen.map(({ workflow_id }) => workflow_id),
          })
          const refused = refusalsIn(items)
          if (refused) throw new Error(refused)
        }}
      />
    </>
  )
}
