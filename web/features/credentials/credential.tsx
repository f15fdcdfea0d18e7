import { useParams, useSearch } from '@tanstack/react-router'
import { KeyRound, Link2, PlugZap, Share2, Unplug } from 'lucide-react'
import { useState } from 'react'
import type { Credential } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { factsOf } from '#web/ui/schema-facts.ts'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { PersonName } from '../people/names.tsx'
import { formOf, kindTitle, stateLabels } from './forms.ts'
import { NewSecret } from './new-secret.tsx'
import { revocationOf } from './revoke.ts'
import { Sharing } from './sharing.tsx'
import { Usage } from './usage.tsx'
import { useCredentialTest } from './use-test.ts'

export function CredentialPage() {
  const { credential_id } = useParams({ strict: false }) as { credential_id: string }
  const credential = useApi('getCredential', { credential_id })
  return (
    <LoadedPage
      of={credential}
      what="the credential"
      title="Credential"
      crumbs={[{ label: 'Credentials', to: '/credentials' }]}
    >
      {(found) => <Found credential={found} />}
    </LoadedPage>
  )
}

const stale = ['getCredential', 'listCredentials'] as const

function Found({ credential }: { credential: Credential }) {
  const { credential_id, role, state } = credential
  const { isOwner } = useRole()
  const { connected } = useSearch({ strict: false }) as { connected?: unknown }
  const [open, setOpen] = useState<'secret' | 'share' | 'revoke' | null>(null)
  const close = (): void => setOpen(null)
  const mayEdit = role === 'owner' || role === 'edit'
  const revoked = state === 'revoked'
  const kinds = useApi('listCredentialKinds', {}, { staleTime: Number.POSITIVE_INFINITY })
  const form = kinds.data && formOf(kinds.data, { kind: credential.kind, service: credential.service ?? undefined })
  const { test, isPending: isTesting } = useCredentialTest(credential)
  const authorize = useChange('authorizeCredential', {
    failed: 'Could not start connecting',
    onDone: ({ url }) => location.assign(url),
  })
  const revoke = useChange('revokeCredential', { stale: [...stale, 'listJobs'], done: 'The secret was erased' })
  return (
    <Page
      title={credential.name}
      crumbs={[{ label: 'Credentials', to: '/credentials' }]}
      description={
        <span className="flex items-center gap-2">
          {credential.service ? (form?.title ?? credential.service) : kindTitle(credential.kind)}
          <StatusBadge status={state} label={stateLabels[state] ?? state} />
        </span>
      }
      actions={
        <>
          {credential.kind === 'oauth2_code' && mayEdit && !revoked && (
            <Button
              icon={Link2}
              look={state === 'ready' ? 'secondary' : 'primary'}
              pending={authorize.isPending}
              onClick={() => authorize.mutate({ credential_id })}
            >
              {state === 'needs_authorization' ? 'Connect' : 'Reconnect'}
            </Button>
          )}
          {test && (
            <Button icon={PlugZap} pending={isTesting} onClick={test}>
              Test
            </Button>
          )}
          {role === 'owner' && (
            <Button icon={Share2} onClick={() => setOpen('share')}>
              Share
            </Button>
          )}
          {mayEdit && (
            <Button icon={KeyRound} look={revoked ? 'primary' : 'secondary'} onClick={() => setOpen('secret')}>
              {revoked ? 'Store a new secret' : 'Replace secret'}
            </Button>
          )}
          {(role === 'owner' || isOwner) && !revoked && (
            <Button icon={Unplug} onClick={() => setOpen('revoke')}>
              Revoke
            </Button>
          )}
        </>
      }
    >
      {connected !== undefined && state === 'ready' && (
        <p role="status" className="mb-6 rounded-lg bg-success-soft px-4 py-3 text-success">
          Connected. Workflows that name it can use it now.
        </p>
      )}
      {state === 'needs_reconnect' && (
        <p role="alert" className="mb-6 rounded-lg bg-danger-soft px-4 py-3 text-danger">
          The service no longer accepts it ({credential.problem}). Jobs that use it are paused until it is connected
          again.
        </p>
      )}
      <div className="mb-8 grid gap-6 md:grid-cols-2">
        <Section title="Details" className="mb-0!">
          <Facts
            facts={[
              ['Hosts', credential.hosts.join(', ')],
              ...factsOf(form?.config_schema ?? {}, credential.config),
              ['Secret', revoked ? 'erased' : 'stored, encrypted'],
              ['Owner', <PersonName key="owner" id={credential.owner_id} />],
              [
                'Last used',
                credential.last_used_at ? <RelativeTime key="used" at={credential.last_used_at} /> : 'never',
              ],
              ...(credential.expires_at
                ? [['Expires', <RelativeTime key="expires" at={credential.expires_at} />] as [string, React.ReactNode]]
                : []),
            ]}
          />
        </Section>
        <Section title="Last test" className="mb-0!">
          {credential.last_test ? (
            <p>
              <StatusBadge
                status={credential.last_test.ok ? 'active' : 'failing'}
                label={credential.last_test.ok ? 'Works' : 'Fails'}
              />{' '}
              {translateMessage(credential.last_test.message)} <RelativeTime at={credential.last_test.tested_at} />
            </p>
          ) : (
            <p className="text-ink-2">It was not tested since its secret was stored.</p>
          )}
        </Section>
      </div>
      <Usage credentialId={credential_id} />
      <NewSecret open={open === 'secret'} onClose={close} credential={credential} />
      <Sharing open={open === 'share'} onClose={close} credential={credential} />
      <ConfirmDialog
        open={open === 'revoke'}
        onClose={close}
        {...revocationOf(credential)}
        onConfirm={() => revoke.mutateAsync({ credential_id })}
      />
    </Page>
  )
}
