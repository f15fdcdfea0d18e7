import { RefreshCw } from 'lucide-react'
import type { Connection } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { revocationOf, useRevoke, useVerify } from './actions.ts'

export function ConnectionMenu({ connection }: { connection: Connection }) {
  const { canWrite } = useRole()
  const { connection_id, name } = connection
  const verify = useVerify()
  const revoke = useRevoke()
  const update = useChange('updateConnection', { stale: ['listConnections'], done: 'Saved' })
  const isUsable = canWrite && connection.credential.state !== 'revoked'
  return (
    <RowMenu
      name={name}
      path={`/connections/${connection_id}`}
      rename={canWrite && ((next) => update.mutateAsync({ connection_id, name: next }))}
      removal={isUsable && { ...revocationOf(connection), onConfirm: () => revoke.mutateAsync({ connection_id }) }}
    >
      {isUsable && (
        <MenuItem icon={RefreshCw} onSelect={() => verify.mutate({ connection_id })}>
          Verify now
        </MenuItem>
      )}
    </RowMenu>
  )
}
