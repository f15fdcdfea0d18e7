import { Plus, RadioTower } from 'lucide-react'
import { useState } from 'react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { NewDestination } from './new.tsx'
import { DestinationState } from './state.tsx'

export function DestinationsPage() {
  const { canWrite } = useRole()
  const destinations = useList('listDestinations', { limit: 50 })
  const [making, setMaking] = useState(false)
  const add = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New destination
    </Button>
  )
  return (
    <Page
      title="Event destinations"
      description="Addresses that are told what happens here, as it happens. Each message is signed and sent again until it is accepted."
      actions={add}
    >
      <Loaded of={destinations} what="the event destinations">
        {(items) => (
          <Table
            label="Event destinations"
            rows={items}
            rowKey={(row) => row.destination_id}
            rowTo={(row) => `/destinations/${row.destination_id}`}
            more={destinations.more}
            empty={
              <Empty icon={RadioTower} title="No event destinations yet" action={add}>
                Add one to tell another system when executions end, when approvals are needed, or what the audit log
                records.
              </Empty>
            }
            columns={[
              { header: 'Address', link: true, cell: (row) => row.url },
              { header: 'Events', cell: (row) => row.event_types.join(', '), secondary: true },
              { header: 'State', cell: (row) => <DestinationState destination={row} />, width: '8rem' },
              {
                header: 'Last accepted',
                cell: (row) => <RelativeTime at={row.last_success_at} />,
                width: '9rem',
                secondary: true,
              },
            ]}
          />
        )}
      </Loaded>
      <NewDestination open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}
