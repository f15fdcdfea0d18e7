import type { Credential } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { SharingDialog } from '#web/sharing.tsx'

export function Sharing({ open, onClose, credential }: { open: boolean; onClose(): void; credential: Credential }) {
  const save = useChange('updateCredential', {
    stale: ['getCredential', 'listCredentials'],
    done: 'Sharing was saved',
    failed: 'Could not share the credential',
    onDone: onClose,
  })
  return (
    <SharingDialog
      open={open}
      onClose={onClose}
      of={credential}
      description="People who may use it refer to it by name in their workflows. Nobody sees the secret."
      roles={[
        { value: 'use', label: 'May use it' },
        { value: 'edit', label: 'May use and change it' },
      ]}
      pending={save.isPending}
      onSave={(shared) => save.mutate({ credential_id: credential.credential_id, shared: shared as never })}
    />
  )
}
