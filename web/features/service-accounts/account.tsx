import { useNavigate, useParams } from '@tanstack/react-router'
import { KeyRound, Pencil, Plus, Power, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ServiceAccount } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { NewKeyDialog } from '../keys/new-key.tsx'
import { KeyTable } from '../keys/table.tsx'
import { PersonName } from '../people/names.tsx'
import { roleLabel } from '../people/roles.ts'
import { ServiceAccountDialog } from './dialog.tsx'

export function ServiceAccountPage() {
  const { user_id } = useParams({ strict: false }) as { user_id: string }
  const account = useApi('getServiceAccount', { user_id })
  return (
    <Loaded of={account} what="the service account">
      {(found) => <Found account={found} />}
    </Loaded>
  )
}

const stale = ['getServiceAccount', 'listServiceAccounts', 'listWorkspaceMembers'] as const

function Found({ account }: { account: ServiceAccount }) {
  const { user_id, disabled } = account
  const { isOwner } = useRole()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'change' | 'delete' | 'disable' | null>(null)
  const close = (): void => setOpen(null)
  const change = useChange('updateServiceAccount', { stale: [...stale], failed: 'Could not change the account' })
  const remove = useChange('deleteServiceAccount', {
    stale: ['listServiceAccounts', 'listWorkspaceMembers'],
    done: 'The service account was deleted',
    onDone: () => void navigate({ to: '/service-accounts' }),
  })
  return (
    <Page
      title={account.name}
      crumbs={[{ label: 'Service accounts', to: '/service-accounts' }]}
      {...(account.description && { description: account.description })}
      actions={
        isOwner && (
          <>
            <Button icon={Pencil} onClick={() => setOpen('change')}>
              Change
            </Button>
            <Button
              icon={Power}
              look={disabled ? 'primary' : 'secondary'}
              onClick={() => (disabled ? change.mutate({ user_id, disabled: false }) : setOpen('disable'))}
            >
              {disabled ? 'Enable' : 'Disable'}
            </Button>
            <Button icon={Trash2} onClick={() => setOpen('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      {disabled && (
        <p role="alert" className="mb-6 rounded-lg bg-danger-soft px-4 py-3 text-danger">
          Disabled: its API keys are refused.
        </p>
      )}
      <Section title="Details">
        <Facts
          facts={[
            ['Role', <Badge key="role">{roleLabel(account.role)}</Badge>],
            ['Created by', <PersonName key="maker" id={account.created_by} />],
            ['Made', <RelativeTime key="made" at={account.created_at} />],
            ['Last used', <RelativeTime key="used" at={account.last_used_at} />],
          ]}
        />
      </Section>
      {isOwner && <Keys userId={user_id} isDisabled={disabled} />}
      {open === 'change' && <ServiceAccountDialog account={account} onClose={close} />}
      <ConfirmDialog
        open={open === 'disable'}
        onClose={close}
        title={`Disable ${account.name}?`}
        consequence="Programs that use its keys are refused at once. Workflows that it activated keep running. You can enable it again."
        action="Disable"
        onConfirm={() => change.mutateAsync({ user_id, disabled: true })}
      />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${account.name}?`}
        consequence="Its keys stop working at once. Its workflows and templates become yours and run with your rights. This cannot be undone."
        action="Delete account"
        onConfirm={() => remove.mutateAsync({ user_id })}
      />
    </Page>
  )
}

function Keys({ userId, isDisabled }: { userId: string; isDisabled: boolean }) {
  const keys = useList('listServiceAccountKeys', { user_id: userId })
  const [making, setMaking] = useState(false)
  const changed = ['listServiceAccountKeys', 'getServiceAccount'] as const
  const create = useChange('createServiceAccountKey', { stale: [...changed] })
  const remove = useChange('deleteServiceAccountKey', { stale: [...changed], done: 'The key was deleted' })
  const make = !isDisabled && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New API key
    </Button>
  )
  return (
    <Section title="API keys" actions={make}>
      <Loaded of={keys} what="its API keys">
        {(rows) => (
          <KeyTable
            label="API keys of the service account"
            rows={rows}
            more={keys.more}
            empty={
              <Empty icon={KeyRound} title="No API keys yet">
                A program uses one to act as this account.
              </Empty>
            }
            onDelete={({ key_id }) => remove.mutateAsync({ user_id: userId, key_id })}
          />
        )}
      </Loaded>
      <NewKeyDialog
        open={making}
        onClose={() => setMaking(false)}
        everything="Everything the account can do"
        onCreate={({ name, scopes, expires_at }) => create.mutateAsync({ user_id: userId, name, scopes, expires_at })}
      />
    </Section>
  )
}
