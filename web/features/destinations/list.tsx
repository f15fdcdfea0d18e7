import { Plus, RadioTower } from 'lucide-react'
import { useState } from 'react'
import { useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { NewDestination } from './new.tsx'
import { DestinationMenu } from './row-menu.tsx'
import { DestinationState } from './state.tsx'

export function DestinationsPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const destinations = useList('listDestinations', { limit: 50, ...search.query })
  const [making, setMaking] = useState(false)
  const add = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New destination
    </Button>
  )
  return (
    <ListPage
      title="Event destinations"
      description="Addresses that receive events of this workspace as they happen. Each message is signed and sent again until the address accepts it."
      what="the event destinations"
      list={destinations}
      search={search}
      create={add}
      empty={{
        icon: RadioTower,
        title: 'No event destinations yet',
        text: 'Add one to notify another system when runs end, when approvals are needed, or of entries in the audit log.',
      }}
      rowKey={(row) => row.destination_id}
      rowTo={(row) => `/destinations/${row.destination_id}`}
      columns={[
        { header: 'Address', link: true, cell: (row) => row.url.replace(/^https:\/\//, '') },
        { header: 'Events', cell: (row) => row.event_types.join(', '), secondary: true },
        { header: 'State', cell: (row) => <DestinationState destination={row} />, width: '6rem' },
        {
          header: 'Last accepted',
          cell: (row) => <RelativeTime at={row.last_success_at} />,
          width: '9rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <DestinationMenu destination={row} /> },
      ]}
    >
      <NewDestination open={making} onClose={() => setMaking(false)} />
    </ListPage>
  )
}
