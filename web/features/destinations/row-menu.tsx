import { Power, Send } from 'lucide-react'
import type { EventDestination } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf, useDestinationTest } from './actions.ts'

export function DestinationMenu({ destination }: { destination: EventDestination }) {
  const { userId } = useRole()
  const { destination_id, enabled } = destination
  const test = useDestinationTest()
  const change = useChange('updateDestination', {
    stale: ['getDestination', 'listDestinations', 'listDeliveries'],
    done: 'The destination was saved',
    failed: 'Could not switch the destination',
  })
  const remove = useChange('deleteDestination', { stale: ['listDestinations'], done: 'The destination was deleted' })
  return (
    <RowMenu
      name={new URL(destination.url).host}
      path={`/destinations/${destination_id}`}
      removal={{ ...deletionOf(destination), onConfirm: () => remove.mutateAsync({ destination_id }) }}
    >
      {destination.owner_id === userId && (
        <MenuItem icon={Send} onSelect={() => test.mutate({ destination_id })}>
          Send a test event
        </MenuItem>
      )}
      <MenuItem icon={Power} onSelect={() => change.mutate({ destination_id, enabled: !enabled })}>
        {enabled ? 'Switch off' : 'Switch on'}
      </MenuItem>
    </RowMenu>
  )
}
