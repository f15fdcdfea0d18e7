import { useState } from 'react'
import type { Credential } from '#sdk/types.generated'
import { useAll, useChange } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { t } from '#web/words/language.ts'

type Share = Credential['shared'][number]
const keyOf = ({ kind, id }: Pick<Share, 'kind' | 'id'>): string => `${kind} ${id ?? ''}`

/** With whom, and what they may do. */
export function Sharing({ open, onClose, credential }: { open: boolean; onClose(): void; credential: Credential }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="medium"
      title={`Share ${credential.name}`}
      description="Those who may use it name it in their workflows. Nobody sees the secret."
    >
      {open && <ShareForm credential={credential} onClose={onClose} />}
    </Dialog>
  )
}

function ShareForm({ credential, onClose }: { credential: Credential; onClose(): void }) {
  const { workspace } = useMe()
  const people = useAll('listWorkspaceMembers', { workspace_id: workspace!.workspace_id, limit: 200 })
  const teams = useAll('listTeams', { limit: 200 })
  const [roles, setRoles] = useState<Record<string, string>>(
    Object.fromEntries(credential.shared.map((share) => [keyOf(share), share.role])),
  )
  const save = useChange('updateCredential', {
    stale: ['getCredential', 'listCredentials'],
    done: 'Sharing was saved',
    failed: 'Could not share the credential',
    onDone: onClose,
  })
  const rows: { share: Pick<Share, 'kind' | 'id'>; name: string }[] = [
    { share: { kind: 'workspace' }, name: t('Everyone in the workspace') },
    ...(teams.data ?? []).map(({ team_id, name }) => ({ share: { kind: 'team' as const, id: team_id }, name })),
    ...(people.data ?? [])
      .filter(({ user_id, role }) => user_id !== credential.owner_id && role !== 'guest')
      .map(({ user_id, name }) => ({ share: { kind: 'user' as const, id: user_id }, name })),
  ]
  const shared = rows.flatMap(({ share }) => {
    const role = roles[keyOf(share)]
    return role === 'use' || role === 'edit' ? [{ ...share, role }] : []
  })
  return (
    <div className="flex flex-col gap-3">
      {rows.map(({ share, name }) => (
        <Field key={keyOf(share)} label={name}>
          <Select
            value={roles[keyOf(share)] ?? ''}
            onChange={(event) => {
              const { value } = event.target
              setRoles((before) => ({ ...before, [keyOf(share)]: value }))
            }}
            options={[
              { value: '', label: 'No access' },
              { value: 'use', label: 'May use it' },
              { value: 'edit', label: 'May use and change it' },
            ]}
          />
        </Field>
      ))}
      <Button
        look="primary"
        pending={save.isPending}
        onClick={() => save.mutate({ credential_id: credential.credential_id, shared: shared as never })}
      >
        Save sharing
      </Button>
    </div>
  )
}
