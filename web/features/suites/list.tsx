import { FlaskConical, Plus } from 'lucide-react'
import type { ListedSuite } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { mayUse } from '../workflows/role.ts'
import { PassRate } from './pass-rate.tsx'
import { SuiteMenu } from './row-menu.tsx'

export function SuitesPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const suites = useList('searchSuites', search.query, { isLive: ({ last_run }) => last_run?.status === 'running' })
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
        { header: 'Workflow', cell: (row) => row.workflow_name, secondary: true },
        { header: 'Checks', cell: (row) => row.checks.length, align: 'right', width: '6rem', secondary: true },
        { header: 'Newest run', cell: (row) => <Newest run={row.last_run} />, width: 'clamp(10rem, 40vw, 13rem)' },
        {
          header: 'Changed',
          cell: (row) => <RelativeTime at={row.updated_at} />,
          width: '9rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <SuiteMenu suite={row} mayChange={mayUse(row.role)} /> },
      ]}
    />
  )
}

const Newest = ({ run }: { run: ListedSuite['last_run'] }) =>
  run === null ? <span className="text-ink-3">never run</span> : <PassRate run={run} />
