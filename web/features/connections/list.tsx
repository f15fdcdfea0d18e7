import { keepPreviousData } from '@tanstack/react-query'
import { DatabaseZap, Plus } from 'lucide-react'
import { useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { said } from './kinds.ts'
import { ConnectionMenu } from './row-menu.tsx'

export function ConnectionsPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const connections = useApi('listConnections', search.query, { placeholderData: keepPreviousData })
  const add = canWrite && (
    <ButtonLink to="/connections/new" look="primary" icon={Plus}>
      New connection
    </ButtonLink>
  )
  return (
    <Page
      title="Connections"
      description="Stored credentials for data warehouses. No one can read a stored secret."
      actions={add}
    >
      <SearchBar search={search} rows={connections.data?.items} />
      <Loaded of={connections} what="the connections">
        {({ items, kinds }) => (
          <Table
            label="Connections"
            rows={items}
            rowKey={(row) => row.connection_id}
            rowTo={(row) => `/connections/${row.connection_id}`}
            empty={emptyWith(
              search,
              <Empty icon={DatabaseZap} title="No connections yet" action={add}>
                Connect {kinds.map(({ title }) => said(title)).join(', ')}. Then capture tables and queries as datasets,
                or query them in workflows.
              </Empty>,
            )}
            columns={[
              {
                header: 'Name',
                link: true,
                cell: (row) => row.name,
              },
              {
                header: 'Kind',
                cell: (row) => said(kinds.find(({ kind }) => kind === row.kind)?.title ?? row.kind),
                width: '10rem',
                secondary: true,
              },
              { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '7rem' },
              { header: 'Sources', cell: (row) => row.sources.length, align: 'right', width: '6rem', secondary: true },
              {
                header: 'Checked',
                cell: (row) => <RelativeTime at={row.checked_at} />,
                width: '9rem',
                secondary: true,
              },
              { ...menuColumn, cell: (row) => <ConnectionMenu connection={row} /> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
