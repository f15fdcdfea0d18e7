import { useNavigate } from '@tanstack/react-router'
import { Plus, ReceiptText } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { BillingShell } from './billing-page.tsx'
import { RecordDialog } from './record-dialog.tsx'

/** Subscriptions that a workspace records: licences, seats, contracts. They cause no payments. */
export function RecordsPage() {
  const navigate = useNavigate()
  const { isOwner } = useRole()
  const { workspaces } = useMe()
  const [making, setMaking] = useState(false)
  const records = useList('listSubscriptions')
  const create = useChange('createSubscription', {
    stale: ['listSubscriptions'],
    onDone: ({ subscription_id }) => void navigate({ to: `/billing/records/${subscription_id}` }),
  })
  const make = isOwner && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New record
    </Button>
  )
  return (
    <BillingShell section="Subscription records" actions={make}>
      <p className="mb-4 max-w-prose text-ink-2">
        Licences, seats and contracts you want to track. They do not charge anyone.
      </p>
      <Loaded of={records} what="the records">
        {(rows) => (
          <Table
            label="Subscription records"
            rows={rows}
            rowKey={(row) => row.subscription_id}
            rowTo={(row) => `/billing/records/${row.subscription_id}`}
            more={records.more}
            empty={
              <Empty icon={ReceiptText} title="No records yet" action={make}>
                Track what you subscribe to, or who subscribes to you.
              </Empty>
            }
            columns={[
              {
                header: 'Name',
                link: true,
                cell: (row) => row.name,
              },
              { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '7rem' },
              { header: 'Quantity', cell: (row) => row.quantity, align: 'right', width: '6rem' },
              {
                header: 'Workspace',
                cell: (row) =>
                  workspaces.find(({ workspace_id }) => workspace_id === row.workspace_id)?.name ?? 'another workspace',
                secondary: true,
                width: '10rem',
              },
              { header: 'From', cell: (row) => <RelativeTime at={row.starts_at} />, secondary: true, width: '9rem' },
              {
                header: 'To',
                cell: (row) => <RelativeTime at={row.ends_at} never="open" />,
                secondary: true,
                width: '9rem',
              },
            ]}
          />
        )}
      </Loaded>
      <RecordDialog
        open={making}
        onClose={() => setMaking(false)}
        title="New record"
        submit="Add record"
        onSave={(values) => create.mutateAsync(values)}
      />
    </BillingShell>
  )
}
