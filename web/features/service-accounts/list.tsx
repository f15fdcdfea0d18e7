import { Bot, Plus } from 'lucide-react'
import { useState } from 'react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { roleLabel } from '../people/roles.ts'
import { ServiceAccountDialog } from './dialog.tsx'

export function ServiceAccountsPage() {
  const { isOwner } = useRole()
  const search = useSearchText()
  const accounts = useList('listServiceAccounts', search.query)
  const [making, setMaking] = useState(false)
  const make = isOwner && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New service account
    </Button>
  )
  return (
    <Page
      title="Service accounts"
      description="Accounts of programs. They belong to the workspace, so they keep working when the person who created them leaves."
      actions={make}
    >
      <SearchBar search={search} rows={accounts.data} />
      <Loaded of={accounts} what="the service accounts">
        {(rows) => (
          <Table
            label="Service accounts"
            rows={rows}
            rowKey={(row) => row.user_id}
            rowTo={(row) => `/service-accounts/${row.user_id}`}
            more={accounts.more}
            empty={emptyWith(
              search,
              <Empty icon={Bot} title="No service accounts yet" action={make}>
                Create one for a program that works for the team: a deployment, an import, a monitor.
              </Empty>,
            )}
            columns={[
              {
                header: 'Name',
                link: true,
                cell: (row) => row.name,
                after: (row) => row.disabled && <Badge tone="danger">Disabled</Badge>,
              },
              {
                header: 'Description',
                cell: (row) => <span className="text-ink-2">{row.description}</span>,
                secondary: true,
              },
              { header: 'Role', cell: (row) => <Badge>{roleLabel(row.role)}</Badge>, width: '7rem' },
              {
                header: 'Last used',
                cell: (row) => <RelativeTime at={row.last_used_at} />,
                width: '9rem',
                secondary: true,
              },
            ]}
          />
        )}
      </Loaded>
      {making && <ServiceAccountDialog onClose={() => setMaking(false)} />}
    </Page>
  )
}
