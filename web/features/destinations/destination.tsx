import { useNavigate, useParams } from '@tanstack/react-router'
import { KeyRound, Pencil, Power, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { EventDestination } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { PersonName } from '../people/names.tsx'
import { deletionOf, useDestinationTest } from './actions.ts'
import { Deliveries } from './deliveries.tsx'
import { DestinationForm } from './form.tsx'
import { DestinationState } from './state.tsx'

export function DestinationPage() {
  const { destination_id } = useParams({ strict: false }) as { destination_id: string }
  const destination = useApi('getDestination', { destination_id })
  return (
    <LoadedPage
      of={destination}
      what="the event destination"
      title="Event destination"
      crumbs={[{ label: 'Event destinations', to: '/destinations' }]}
    >
      {(found) => <Found destination={found} />}
    </LoadedPage>
  )
}

const stale = ['getDestination', 'listDestinations', 'listDeliveries'] as const

function Found({ destination }: { destination: EventDestination }) {
  const { destination_id, enabled } = destination
  const { userId } = useRole()
  const isMine = destination.owner_id === userId
  const navigate = useNavigate()
  const [open, setOpen] = useState<'change' | 'delete' | 'rotate' | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const close = (): void => setOpen(null)
  const test = useDestinationTest()
  const change = useChange('updateDestination', { stale: [...stale], done: 'The destination was saved' })
  const toggle = useChange('updateDestination', {
    stale: [...stale],
    done: 'The destination was saved',
    failed: 'Could not change this',
  })
  const remove = useChange('deleteDestination', {
    stale: ['listDestinations'],
    done: 'The destination was deleted',
    onDone: () => void navigate({ to: '/destinations' }),
  })
  const rotate = useChange('rotateDestinationSecret', { stale: [...stale], onDone: (made) => setSecret(made.secret) })
  return (
    <Page
      title={new URL(destination.url).host}
      crumbs={[{ label: 'Event destinations', to: '/destinations' }]}
      description={<DestinationState destination={destination} />}
      actions={
        <>
          {isMine && (
            <Button icon={Send} pending={test.isPending} onClick={() => test.mutate({ destination_id })}>
              Send a test event
            </Button>
          )}
          <Button icon={Pencil} onClick={() => setOpen('change')}>
            Change
          </Button>
          <Button
            icon={Power}
            look={enabled ? 'secondary' : 'primary'}
            pending={toggle.isPending}
            onClick={() => toggle.mutate({ destination_id, enabled: !enabled })}
          >
            {enabled ? 'Switch off' : 'Switch on'}
          </Button>
          {isMine && (
            <Button icon={KeyRound} onClick={() => setOpen('rotate')}>
              New secret
            </Button>
          )}
          <Button icon={Trash2} onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </>
      }
    >
      {!enabled && (
        <p role="alert" className="mb-6 rounded-lg bg-danger-soft px-4 py-3 text-danger">
          Nothing is sent. {translateMessage(destination.off_message ?? '')}
        </p>
      )}
      <Section title="Details">
        <Facts
          facts={[
            [
              'Address',
              <span key="url" className="break-all">
                {destination.url}
              </span>,
            ],
            ['Events', destination.event_types.join(', ')],
            ['Workflow', destination.workflow_id ? 'one workflow' : 'all that its owner can see'],
            ['Acts for', <PersonName key="owner" id={destination.owner_id} />],
            ['Waiting to be accepted', String(destination.pending)],
            ['Last accepted', <RelativeTime key="success" at={destination.last_success_at} />],
            ['Last failure', <RelativeTime key="failure" at={destination.last_failure_at} />],
          ]}
        />
      </Section>
      {isMine ? (
        <Deliveries destinationId={destination_id} isOn={enabled} />
      ) : (
        <p className="text-ink-2">
          Only the person it acts for can see the delivered events. If you change the destination, it acts for you.
        </p>
      )}
      <Dialog open={open === 'change'} onClose={close} title="Change the destination" size="medium">
        <DestinationForm
          destination={destination}
          submit="Save destination"
          onCancel={close}
          onSubmit={(values) => change.mutateAsync({ destination_id, ...values }).then(close)}
        />
      </Dialog>
      <ConfirmDialog
        open={open === 'rotate'}
        onClose={close}
        title="Create a new signing secret?"
        consequence="For a day messages are signed with both secrets. After that the receiver must know the new one."
        action="Create a new secret"
        look="primary"
        onConfirm={() => rotate.mutateAsync({ destination_id })}
      />
      <Dialog open={secret !== null} onClose={() => setSecret(null)} title="The new signing secret" size="medium">
        <CopyField label="Signing secret" text={secret ?? ''} secret />
      </Dialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        {...deletionOf(destination)}
        onConfirm={() => remove.mutateAsync({ destination_id })}
      />
    </Page>
  )
}
