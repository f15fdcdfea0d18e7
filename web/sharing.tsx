import { useState } from 'react'
import type { Credential, Knowledge } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { t } from '#web/words/language.ts'

type Shared = Credential | Knowledge
export type Share = Shared['shared'][number]
type Holder = Pick<Share, 'kind' | 'id'>
const keyOf = ({ kind, id }: Holder): string => `${kind} ${id ?? ''}`

type Choice = {
  of: Pick<Shared, 'name' | 'owner_id' | 'shared'>
  /** What each role may do. */
  roles: { value: Share['role']; label: string }[]
  pending: boolean
  onSave(shared: Share[]): void
}

/** The people with whom a user's resource is shared, and their roles. */
export function SharingDialog({
  open,
  onClose,
  description,
  ...choice
}: Choice & { open: boolean; onClose(): void; description: string }) {
  return (
    <Dialog open={open} onClose={onClose} size="medium" title={`Share ${choice.of.name}`} description={description}>
      {open && <ShareForm {...choice} />}
    </Dialog>
  )
}

function ShareForm({ of, roles: offered, pending, onSave }: Choice) {
  const { workspace } = useMe()
  const people = useAll('listWorkspaceMembers', { workspace_id: workspace!.workspace_id, limit: 200 })
  const teams = useAll('listTeams', { limit: 200 })
  const [roles, setRoles] = useState<Record<string, string>>(
    Object.fromEntries(of.shared.map((share) => [keyOf(share), share.role])),
  )
  const rows: { share: Holder; name: string }[] = [
    { share: { kind: 'workspace' }, name: t('Everyone in the workspace') },
    ...(teams.data ?? []).map(({ team_id, name }) => ({ share: { kind: 'team' as const, id: team_id }, name })),
    ...(people.data ?? [])
      .filter(({ user_id, role }) => user_id !== of.owner_id && role !== 'guest')
      .map(({ user_id, name }) => ({ share: { kind: 'user' as const, id: user_id }, name })),
  ]
  const shared = rows.flatMap(({ share }) => {
    const role = roles[keyOf(share)]
    return role === 'use' || role === 'edit' ? [{ ...share, role } as Share] : []
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
            options={[{ value: '', label: 'No access' }, ...offered]}
          />
        </Field>
      ))}
      <Button look="primary" pending={pending} onClick={() => onSave(shared)}>
        Save sharing
      </Button>
    </div>
  )
}
