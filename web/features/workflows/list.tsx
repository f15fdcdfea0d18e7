import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus, Workflow as WorkflowIcon } from 'lucide-react'
import type { Workflow } from '#sdk/types.generated'
import { useAll, useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { Field, Select, withPresent } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchField, useSearchText } from '#web/ui/search.tsx'
import { SelectionBar, useSelection } from '#web/ui/selection.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { type Column, Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { SavedViews } from '../views/saved-views.tsx'
import { workflowName } from './built-in.ts'
import { ImportN8nButton } from './import-n8n.tsx'
import { BulkActions } from './list/bulk.tsx'
import { WorkflowMenu } from './list/row-menu.tsx'
import { type Filters, filtersIn, hasFilters, startsInWords, stateOf } from './list/state.ts'
import { ImportButton } from './portable.tsx'
import { mayUse, roleIn } from './role.ts'
import { StarterCards } from './starter-cards.tsx'

export function WorkflowsPage() {
  const { canWrite, userId } = useRole()
  const filters = filtersIn(useSearch({ strict: false }))
  const navigate = useNavigate()
  const search = useSearchText()
  const { scope = 'own', ...only } = filters
  const workflows = useList('listWorkflows', {
    scope,
    ...only,
    include: 'activity',
    limit: 200,
    ...search.query,
  })
  const selection = useSelection(workflows.data, {
    keyOf: ({ workflow_id }) => workflow_id,
    nameOf: ({ name }) => name,
    can: (workflow) => workflow.kind === 'user' && mayUse(roleIn(workflow, userId)),
  })
  const set = (next: Filters): void => void navigate({ to: '/workflows', search: next as never, replace: true })
  const columns = useColumns()
  return (
    <Page
      wide
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
      <SavedViews
        list="workflows"
        filters={filters}
        readFilters={filtersIn}
        maySave={hasFilters(filters)}
        onOpen={set}
      />
      <div className="mb-4 flex flex-wrap gap-3">
        <SearchField search={search} placeholder="Search by name" />
        <FilterFields filters={filters} onChange={set} />
      </div>
      <Loaded of={workflows} what="the workflows">
        {(all) => {
          // Built-in workflows come last: users look for their own.
          const rows = [...all].sort((a, b) => Number(a.kind === 'system') - Number(b.kind === 'system'))
          const own = all.filter(({ kind }) => kind === 'user')
          return (
            <>
              {own.length === 0 && search.query.q === undefined && !hasFilters(filters) && canWrite && (
                <div className="mb-6">
                  <p className="mb-3 text-ink-2">You have no workflows yet. Start with a working example:</p>
                  <StarterCards withBlank />
                </div>
              )}
              <SelectionBar selection={selection}>
                <BulkActions selection={selection} />
              </SelectionBar>
              <Table
                label="Workflows"
                rows={rows}
                more={workflows.more}
                rowKey={({ workflow_id }) => workflow_id}
                rowTo={({ workflow_id }) => `/workflows/${workflow_id}`}
                empty={emptyWith(
                  search,
                  <Empty
                    icon={WorkflowIcon}
                    title={hasFilters(filters) ? 'No workflow matches' : 'No workflows yet'}
                    action={hasFilters(filters) && <Button onClick={() => set({})}>Clear filters</Button>}
                  />,
                )}
                columns={[...(selection.column ? [selection.column] : []), ...columns]}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

function useColumns(): Column<Workflow>[] {
  const { nameOf } = usePeople()
  return [
    {
      header: 'Name',
      link: true,
      cell: workflowName,
      after: (row) => (
        <>
          {row.kind === 'system' && <Badge>built in</Badge>}
          {row.tags.slice(0, 3).map((tag) => (
            <Badge key={tag} tone="accent" className="max-w-28 truncate max-md:hidden">
              {tag}
            </Badge>
          ))}
        </>
      ),
    },
    { header: 'State', width: '6rem', cell: (row) => <State workflow={row} /> },
    {
      header: 'Last result',
      width: 'clamp(12.5rem, 14vw, 15rem)',
      secondary: true,
      cell: (row) => <LastResult workflow={row} />,
    },
    {
      header: 'Starts',
      width: 'clamp(8rem, 11vw, 13rem)',
      secondary: true,
      cell: (row) => <span title={startsInWords(row)}>{startsInWords(row)}</span>,
    },
    {
      header: 'Next run',
      width: '7rem',
      wide: true,
      cell: (row) => <RelativeTime at={row.activity?.next_run_at} never="–" />,
    },
    {
      header: 'Owner',
      width: '7rem',
      wide: true,
      cell: (row) => (row.kind === 'system' ? 'Heddle' : nameOf(row.owner_id)),
    },
    {
      header: <span className="sr-only">Actions</span>,
      width: '3.75rem',
      align: 'right',
      cell: (row) => row.kind === 'user' && <WorkflowMenu workflow={row} />,
    },
  ]
}

const states = {
  live: { tone: 'success', label: 'live' },
  paused: { tone: 'waiting', label: 'paused' },
  draft: { tone: 'neutral', label: 'no version' },
} as const

function State({ workflow }: { workflow: Workflow }) {
  if (workflow.kind === 'system') return <span className="text-ink-3">–</span>
  const { tone, label } = states[stateOf(workflow)]
  return <Badge tone={tone}>{label}</Badge>
}

function LastResult({ workflow: { activity } }: { workflow: Workflow }) {
  if (!activity?.last_run) return <span className="text-ink-3">–</span>
  const { status, finished_at, created_at } = activity.last_run
  return (
    <span className="flex items-center gap-2">
      <StatusBadge status={status} />
      <span className="truncate text-xs text-ink-2">
        <RelativeTime at={finished_at ?? created_at} />
      </span>
    </span>
  )
}

function FilterFields({ filters, onChange }: { filters: Filters; onChange(filters: Filters): void }) {
  const { list: people } = usePeople()
  const all = useAll('listWorkflows', { scope: 'workspace', limit: 200 }, { staleTime: 60_000 })
  const tags = [...new Set((all.data ?? []).flatMap((workflow) => workflow.tags))].sort()
  const change = (name: keyof Filters, value: string): void => {
    const { [name]: _before, ...rest } = filters
    onChange(value === '' ? rest : { ...rest, [name]: value })
  }
  return (
    <>
      <Field label="Show" hideLabel className="w-60 max-sm:w-full">
        <Select
          value={filters.scope ?? 'own'}
          onChange={(event) => change('scope', event.target.value)}
          options={[
            { value: 'own', label: 'Mine and shared with me' },
            { value: 'workspace', label: 'All in this workspace' },
          ]}
        />
      </Field>
      <Field label="State" hideLabel className="w-40 max-sm:w-[calc(50%-0.375rem)]">
        <Select
          value={filters.state ?? ''}
          onChange={(event) => change('state', event.target.value)}
          options={[
            { value: '', label: 'Any state' },
            { value: 'live', label: 'Live' },
            { value: 'paused', label: 'Paused' },
            { value: 'draft', label: 'No version' },
          ]}
        />
      </Field>
      <Field label="Tag" hideLabel className="w-40 max-sm:w-[calc(50%-0.375rem)]">
        <Select
          value={filters.tag ?? ''}
          onChange={(event) => change('tag', event.target.value)}
          options={withPresent(
            [{ value: '', label: 'Any tag' }, ...tags.map((tag) => ({ value: tag, label: tag }))],
            filters.tag,
            filters.tag ?? '',
          )}
        />
      </Field>
      <Field label="Owner" hideLabel className="w-40 max-sm:w-[calc(50%-0.375rem)]">
        <Select
          value={filters.owner_id ?? ''}
          onChange={(event) => change('owner_id', event.target.value)}
          options={withPresent(
            [
              { value: '', label: 'Any owner' },
              ...people.map(({ user_id, name }) => ({ value: user_id, label: name })),
            ],
            filters.owner_id,
            t('this owner'),
          )}
        />
      </Field>
    </>
  )
}
