import { useParams } from '@tanstack/react-router'
import { KeyRound, Lock, Pencil, RefreshCw, Unplug } from 'lucide-react'
import { useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { Connection } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { ErrorState } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { PersonName } from '../people/names.tsx'
import { revocationOf, useRevoke, useVerify } from './actions.ts'
import { type Kind, placeOf, said } from './kinds.ts'
import { Probe } from './probe.tsx'
import { ReplaceCredential } from './replace-credential.tsx'
import { Sources } from './sources.tsx'

export function ConnectionPage() {
  const { connection_id } = useParams({ strict: false }) as { connection_id: string }
  const connections = useApi('listConnections')
  const crumbs = [{ label: t('Connections'), to: '/connections' }]
  return (
    <LoadedPage of={connections} what="the connection" title="Connection" crumbs={crumbs}>
      {({ items, kinds }) => {
        const found = items.find((one) => one.connection_id === connection_id)
        const kind = kinds.find((one) => one.kind === found?.kind)
        if (!found) {
          return (
            <Page title="Connection" crumbs={crumbs}>
              <ErrorState error={new HeddleProblem(404, {}, null)} what="the connection" />
            </Page>
          )
        }
        return <Found connection={found} kind={kind} />
      }}
    </LoadedPage>
  )
}

function Found({ connection, kind }: { connection: Connection; kind: Kind | undefined }) {
  const { canWrite, isOwner, userId } = useRole()
  const [open, setOpen] = useState<'revoke' | 'rearm' | null>(null)
  const close = (): void => setOpen(null)
  const { connection_id } = connection
  const revoked = connection.credential.state === 'revoked'
  const verify = useVerify()
  const update = useChange('updateConnection', {
    stale: ['listConnections'],
    done: ({ allow_write }) => (allow_write ? 'Workflows may write now' : 'Workflows may only read now'),
    failed: 'Could not save',
  })
  const mayAllow = kind?.can_write && (isOwner || connection.owner_id === userId)
  const revoke = useRevoke()
  return (
    <Page
      title={connection.name}
      crumbs={[{ label: 'Connections', to: '/connections' }]}
      description={
        <span className="flex items-center gap-2">
          {said(kind?.title ?? connection.kind)} <StatusBadge status={connection.status} />
        </span>
      }
      actions={
        canWrite && (
          <>
            {!revoked && (
              <Button icon={RefreshCw} pending={verify.isPending} onClick={() => verify.mutate({ connection_id })}>
                Verify now
              </Button>
            )}
            {kind && (
              <Button icon={KeyRound} look={revoked ? 'primary' : 'secondary'} onClick={() => setOpen('rearm')}>
                {revoked ? 'Store a new credential' : 'Replace credential'}
              </Button>
            )}
            {mayAllow && (
              <Button
                icon={connection.allow_write ? Lock : Pencil}
                pending={update.isPending}
                onClick={() => update.mutate({ connection_id, allow_write: !connection.allow_write })}
              >
                {connection.allow_write ? 'Make read-only' : 'Allow writing'}
              </Button>
            )}
            {!revoked && (
              <Button icon={Unplug} onClick={() => setOpen('revoke')}>
                Revoke
              </Button>
            )}
          </>
        )
      }
    >
      {revoked && (
        <p role="status" className="mb-6 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
          The credential was revoked and erased. Jobs that use this connection are paused. A new credential resumes
          them.
        </p>
      )}
      <div className="mb-8 grid gap-6 md:grid-cols-2">
        <Section title="Connection details" className="mb-0!">
          <Facts
            facts={[
              ...placeOf(kind, connection.config),
              [
                'Credential',
                revoked ? 'erased' : kind?.secret_fields.length === 0 ? 'none needed' : 'stored, encrypted',
              ],
              ['Workflows may write', connection.allow_write ? 'yes' : 'no'],
              ['Added by', <PersonName key="by" id={connection.owner_id} />],
              ['Added', <RelativeTime key="added" at={connection.created_at} />],
            ]}
          />
        </Section>
        {!revoked && (
          <Section
            title={
              <>
                Last tested <RelativeTime at={connection.checked_at} />
              </>
            }
            className="mb-0!"
          >
            <Probe
              probe={
                verify.isPending
                  ? { state: 'running' }
                  : connection.problem
                    ? { state: 'failed', ...connection.problem }
                    : { state: 'passed' }
              }
              stored
            />
          </Section>
        )}
      </div>
      <Sources connection={connection} />
      {kind && <ReplaceCredential open={open === 'rearm'} onClose={close} connection={connection} kind={kind} />}
      <ConfirmDialog
        open={open === 'revoke'}
        onClose={close}
        {...revocationOf(connection)}
        onConfirm={() => revoke.mutateAsync({ connection_id })}
      />
    </Page>
  )
}
