import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useState } from 'react'
import { useAll, useList } from '#web/api.ts'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Field, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchField, useSearchText } from '#web/ui/search.tsx'
import { SelectionBar, useSelection } from '#web/ui/selection.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { tabClass } from '#web/ui/tabs.tsx'
import { t } from '#web/words/language.ts'
import { SavedViews } from '../views/saved-views.tsx'
import { workflowName } from '../workflows/built-in.ts'
import { BulkActions, ChosenActions, canChoose, Progress } from './bulk.tsx'
import { RunTable } from './run-table.tsx'
import { ALL, triggers } from './triggers.ts'

type Search = { status?: string; workflow_id?: string; since?: string; trigger?: string; error_code?: string }

const filterNames = ['status', 'workflow_id', 'since', 'trigger', 'error_code'] as const

const filtersIn = (kept: unknown): Search => {
  const given = (kept ?? {}) as Record<string, unknown>
  const filled = filterNames.filter((name) => typeof given[name] === 'string' && given[name] !== '')
  return Object.fromEntries(filled.map((name) => [name, given[name]]))
}

const HOUR = 3_600_000
const spans: Record<string, { label: string; ms: number }> = {
  hour: { label: 'Last hour', ms: HOUR },
  day: { label: 'Last day', ms: 24 * HOUR },
  week: { label: 'Last week', ms: 168 * HOUR },
  month: { label: 'Last 30 days', ms: 720 * HOUR },
}

const states = [
  { value: '', label: 'Any state' },
  { value: 'queued,running', label: 'In progress' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed,timed_out', label: 'Failed or timed out' },
  { value: 'cancelled', label: 'Cancelled' },
]

/** Returns a time rounded to the minute, so that the key of the query does not change with every render. */
const since = (span: string | undefined): string | undefined => {
  const ms = span === undefined ? undefined : spans[span]?.ms
  return ms === undefined ? undefined : new Date(Math.floor((Date.now() - ms) / 60_000) * 60_000).toISOString()
}

/** A job starts an execution for each record: those are in a separate list. */
function Kinds({ search }: { search: Search }) {
  const ofJobs = search.trigger === 'job'
  const { trigger: _trigger, ...rest } = search
  const tab = (isOpen: boolean, label: string, next: Search) => (
    <Link
      to="/runs"
      search={next as never}
      aria-current={isOpen ? 'page' : undefined}
      className={cx(tabClass, '-mb-px', isOpen && 'border-accent! text-ink!')}
    >
      {label}
    </Link>
  )
  return (
    <nav aria-label="Kinds of runs" className="mb-5 flex gap-5 overflow-x-auto border-b border-line">
      {tab(!ofJobs, t('Runs'), rest)}
      {tab(ofJobs, 'Runs of jobs', { ...rest, trigger: 'job' })}
    </nav>
  )
}

export function RunsPage() {
  const search = filtersIn(useSearch({ strict: false }))
  const text = useSearchText()
  const navigate = useNavigate()
  const workflows = useAll('listWorkflows', { scope: 'workspace', limit: 200 }, { staleTime: 60_000 })
  const from = since(search.since)
  const runs = useList(
    'searchExecutions',
    {
      limit: 100,
      ...text.query,
      ...(search.status && { status: search.status }),
      ...(search.workflow_id && { workflow_id: search.workflow_id }),
      ...(from && { from }),
      ...(search.error_code && { error_code: search.error_code }),
      ...(search.trigger === ALL
        ? { include_jobs: 'true' as const }
        : search.trigger
          ? { trigger: search.trigger }
          : {}),
    },
    { refetchInterval: 5_000 },
  )
  const selection = useSelection(runs.data, {
    keyOf: ({ execution_id }) => execution_id,
    nameOf: ({ execution_id }) => t('run {0}', [execution_id.slice(-10)]),
    can: canChoose,
  })
  const [bulkId, setBulkId] = useState<string | null>(null)
  const set = (more: Search): void =>
    void navigate({ to: '/runs', search: { ...search, ...more } as never, replace: true })
  const filtered = Object.keys(search).length > 0
  return (
    <Page wide title="Runs" description="All runs you can see, newest first.">
      <Kinds search={search} />
      <SavedViews
        list="runs"
        filters={search}
        readFilters={filtersIn}
        maySave={filtered}
        onOpen={(filters) => void navigate({ to: '/runs', search: filters as never, replace: true })}
      />
      <div className="mb-4 flex flex-wrap gap-3">
        <SearchField search={text} placeholder="Search input, results and errors" />
        <Field label="State" hideLabel className="w-40 max-sm:w-[calc(50%-0.375rem)]">
          <Select
            value={search.status ?? ''}
            onChange={(event) => set({ status: event.target.value })}
            options={states}
          />
        </Field>
        <Field label="Workflow" hideLabel className="w-48 max-sm:w-[calc(50%-0.375rem)]">
          <Select
            value={search.workflow_id ?? ''}
            onChange={(event) => set({ workflow_id: event.target.value })}
            options={[
              { value: '', label: 'Any workflow' },
              ...(workflows.data ?? []).map((one) => ({ value: one.workflow_id, label: workflowName(one) })),
            ]}
          />
        </Field>
        <Field label="Time" hideLabel className="w-36 max-sm:w-[calc(50%-0.375rem)]">
          <Select
            value={search.since ?? ''}
            onChange={(event) => set({ since: event.target.value })}
            options={[
              { value: '', label: 'Any time' },
              ...Object.entries(spans).map(([value, { label }]) => ({ value, label })),
            ]}
          />
        </Field>
        {search.trigger !== 'job' && (
          <Field label="Started by" hideLabel className="w-44 max-sm:w-[calc(50%-0.375rem)]">
            <Select
              value={search.trigger ?? ''}
              onChange={(event) => set({ trigger: event.target.value })}
              options={triggers}
            />
          </Field>
        )}
        {search.error_code && (
          <Button onClick={() => set({ error_code: '' })}>
            {t('Error: {0}', [search.error_code])}
            <X aria-label="Remove this filter" />
          </Button>
        )}
        {filtered && (
          <Button look="quiet" onClick={() => void navigate({ to: '/runs', replace: true })}>
            Clear
          </Button>
        )}
        <BulkActions
          onStarted={setBulkId}
          search={text.query.q}
          filter={{
            ...(search.status && { status: search.status }),
            ...(search.workflow_id && { workflow_id: search.workflow_id }),
            ...(search.trigger && search.trigger !== ALL && { trigger: search.trigger }),
            ...(from && { from }),
            ...(search.error_code && { error_code: search.error_code }),
          }}
        />
        {bulkId !== null && <Progress bulkId={bulkId} />}
      </div>
      <Loaded of={runs} what="the runs">
        {(rows) => (
          <>
            <SelectionBar selection={selection}>
              <ChosenActions selection={selection} onStarted={setBulkId} />
            </SelectionBar>
            <RunTable
              rows={rows}
              more={runs.more}
              selection={selection}
              empty={emptyWith(
                text,
                <Empty
                  title={filtered ? 'No matching runs' : 'No runs yet'}
                  action={!filtered && <ButtonLink to="/workflows">Choose a workflow</ButtonLink>}
                >
                  {filtered ? 'Change the filters and try again.' : 'Run a workflow to see its runs here.'}
                </Empty>,
              )}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}
