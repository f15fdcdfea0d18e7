import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus, Workflow as WorkflowIcon } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Field, Input, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { ImportN8nButton } from './import-n8n.tsx'
import { ImportButton } from './portable.tsx'
import { StarterCards } from './starter-cards.tsx'

export function WorkflowsPage() {
  const { canWrite } = useRole()
  const { scope = 'own' } = useSearch({ strict: false }) as { scope?: 'own' | 'workspace' }
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const workflows = useList('listWorkflows', { scope, limit: 200 })
  const { nameOf } = usePeople()
  const matches = ({ name, description }: Workflow): boolean =>
    `${name} ${description ?? ''}`.toLowerCase().includes(text.trim().toLowerCase())
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
        <Field label="Search" hideLabel className="min-w-48 flex-1">
          <Input
            type="search"
            placeholder="Search by name"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
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
          const rows = [...all]
            .sort((a, b) => Number(a.kind === 'system') - Number(b.kind === 'system'))
            .filter(matches)
          const own = all.filter(({ kind }) => kind === 'user')
          return (
            <>
              {own.length === 0 && text === '' && canWrite && (
                <div className="mb-6">
                  <p className="mb-3 text-ink-2">You have no workflows yet. Start with a working example:</p>
                  <StarterCards withBlank />
                </div>
              )}
              <Table
                label="Workflows"
                rows={rows}
                more={workflows.more}
                rowKey={({ workflow_id }) => workflow_id}
                rowTo={({ workflow_id }) => `/workflows/${workflow_id}`}
                empty={
                  <Empty icon={WorkflowIcon} title="No matches">
                    No workflow has “{text}” in its name or description.
                  </Empty>
                }
                columns={[
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
