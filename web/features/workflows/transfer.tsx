import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { mayChange, type WorkflowRole } from './role.ts'

const stale = ['getWorkflow', 'listWorkflows', 'listVersions'] as const

/** What the user must answer or do before a transferred workflow can run. */
export function TransferNotice({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { userId } = useRole()
  const { nameOf } = usePeople()
  const accept = useChange('acceptTransfer', {
    stale: [...stale],
    done: `${workflow.name} is yours`,
    failed: 'Could not accept',
  })
  const decline = useChange('declineTransfer', { stale: [...stale], done: 'Declined', failed: 'Could not decline' })
  const { workflow_id } = workflow
  if (workflow.pending_owner_id === userId)
    return (
      <Card className="mb-5 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose">
          {nameOf(workflow.owner_id)} offers you this workflow. Once you accept, it runs with your rights as soon as you
          have activated a version.
        </p>
        <span className="flex gap-2">
          <Button pending={decline.isPending} onClick={() => decline.mutate({ workflow_id })}>
            Decline
          </Button>
          <Button look="primary" pending={accept.isPending} onClick={() => accept.mutate({ workflow_id })}>
            Accept
          </Button>
        </span>
      </Card>
    )
  if (!workflow.activation_required) return null
  return (
    <Card className="mb-5 flex flex-wrap items-center justify-between gap-3">
      <p className="max-w-prose">
        This workflow has a new owner. It does not run until its owner or an editor has looked at a version and
        activated it.
      </p>
      {mayChange(role) && <ButtonLink to={`/workflows/${workflow_id}/versions`}>See the versions</ButtonLink>}
    </Card>
  )
}

export function HandOver({ workflow }: { workflow: Workflow }) {
  const { list, nameOf } = usePeople()
  const offer = useChange('offerWorkflow', { stale: [...stale], done: 'Offered' })
  const withdraw = useChange('withdrawTransfer', {
    stale: [...stale],
    done: 'The offer was withdrawn',
    failed: 'Could not withdraw the offer',
  })
  const [to, setTo] = useState('')
  const [asking, setAsking] = useState(false)
  const { workflow_id, pending_owner_id } = workflow
  const others = list.filter(
    ({ user_id, role }) => user_id !== workflow.owner_id && (role === 'owner' || role === 'member'),
  )
  if (pending_owner_id !== null)
    return (
      <Section title="Hand over">
        <Card className="flex max-w-xl flex-wrap items-center justify-between gap-3">
          <p>Offered to {nameOf(pending_owner_id)}, who has not answered yet.</p>
          <Button pending={withdraw.isPending} onClick={() => withdraw.mutate({ workflow_id })}>
            Take it back
          </Button>
        </Card>
      </Section>
    )
  if (others.length === 0) return null
  return (
    <Section
      title="Hand over"
      description="A colleague becomes the owner once they accept. It runs again when they have activated a version."
    >
      <Card className="flex max-w-xl items-end gap-2">
        <Field label="New owner" className="flex-1">
          <Select
            value={to}
            onChange={(event) => setTo(event.target.value)}
            options={[
              { value: '', label: 'Choose a colleague' },
              ...others.map(({ user_id, name }) => ({ value: user_id, label: name })),
            ]}
          />
        </Field>
        <Button disabled={to === ''} onClick={() => setAsking(true)}>
          Offer
        </Button>
      </Card>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Offer ${workflow.name} to ${nameOf(to)}?`}
        consequence="Once they accept, you lose the rights of the owner, and nothing starts it until they have activated a version."
        action="Offer"
        onConfirm={() => offer.mutateAsync({ workflow_id, user_id: to })}
      />
    </Section>
  )
}
