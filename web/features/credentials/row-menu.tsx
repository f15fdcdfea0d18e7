import { PlugZap } from 'lucide-react'
import type { Credential } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { revocationOf } from './revoke.ts'
import { useCredentialTest } from './use-test.ts'

export function CredentialMenu({ credential }: { credential: Credential }) {
  const { isOwner } = useRole()
  const { credential_id, role, state } = credential
  const { test } = useCredentialTest(credential)
  const revoke = useChange('revokeCredential', {
    stale: ['getCredential', 'listCredentials', 'listJobs'],
    done: 'The secret was erased',
  })
  const mayRevoke = (role === 'owner' || isOwner) && state !== 'revoked'
  return (
    <RowMenu
      name={credential.name}
      path={`/credentials/${credential_id}`}
      removal={mayRevoke && { ...revocationOf(credential), onConfirm: () => revoke.mutateAsync({ credential_id }) }}
    >
      {test && (
        <MenuItem icon={PlugZap} onSelect={test}>
          Test
        </MenuItem>
      )}
    </RowMenu>
  )
}
