import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { FlaskConical, Plus } from 'lucide-react'
import type { Suite, Workflow } from '#sdk/types.generated'
import { api, useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { mayRun } from '../workflows/role.ts'
import { PassRate } from './pass-rate.tsx'
import { SuiteMenu } from './row-menu.tsx'

type Row = Suite & { workflow: Workflow }

/** Reads the suites of all the user's workflows into one list, because suites belong to workflows. */
async function readAll(query: { q?: string }, signal: AbortSignal): Promise<Row[]> {
  const own: Workflow[] = []
  let cursor: string | null = null
  do {
    const page: { items: Workflow[]; next_cursor: string | null } = await api.listWorkflows(
      { limit: 200, ...(cursor && { cursor }) },
      { signal },
    )
    own.push(...page.items.filter(({ kind }) => kind === 'user'))
    cursor = page.next_cursor
  } while (cursor !== null)
  const lists = await Promise.all(
    own.map(async (workflow) => {
      const { workflow_id } = workflow
      const suites = await api.listSuites({ workflow_id, limit: 200, ...query }, { signal })
      return suites.items.map((suite) => ({ ...suite, workflow }))
    }),
  )
  return lists.flat()
}

export function SuitesPage() {
  const { canWrite, userId } = useRole()
  const search = useSearchText()
  const suites = useQuery({
    queryKey: ['listSuites', search.query, 'all'],
    queryFn: ({ signal }) => readAll(search.query, signal),
    placeholderData: keepPreviousData,
  })
  const make = canWrite && (
    <ButtonLink to="/suites/new" look="primary" icon={Plus}>
      New suite
    </ButtonLink>
  )
  return (
    <ListPage
      title="Suites"
      description="A suite runs a workflow with known records and compares the output with what you expect."
      what="the suites"
      list={suites}
      search={search}
      create={make}
      empty={{
        icon: FlaskConical,
        title: 'No suites yet',
        text: 'Choose a workflow and a dataset with the expected output of each record.',
      }}
      rowKey={(row) => row.suite_id}
      rowTo={(row) => `/suites/${row.suite_id}`}
      columns={[
        {
          header: 'Name',
          link: true,
          cell: (row) => row.name,
        },
        { header: 'Workflow', cell: (row) => row.workflow.name, secondary: true },
        { header: 'Checks', cell: (row) => row.checks.length, align: 'right', width: '6rem', secondary: true },
        { header: 'Newest run', cell: (row) => <Newest suite={row} />, width: 'clamp(10rem, 40vw, 13rem)' },
        {
          header: 'Changed',
          cell: (row) => <RelativeTime at={row.updated_at} />,
          width: '9rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <SuiteMenu suite={row} mayChange={mayRun(row.workflow, userId)} /> },
      ]}
    />
  )
}

function Newest({ suite }: { suite: Suite }) {
  const run = useApi(
    'getSuiteRun',
    { suite_id: suite.suite_id, run_id: suite.last_run_id ?? '', limit: 1 },
    { enabled: suite.last_run_id !== null },
  )
  if (suite.last_run_id === null) return <span className="text-ink-3">never run</span>
  return run.data ? <PassRate run={run.data} /> : <span className="text-ink-3">…</span>
}
