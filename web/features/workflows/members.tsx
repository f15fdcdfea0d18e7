import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { roleLabel } from '../people/roles.ts'
import { TeamShares } from '../teams/team-shares.tsx'
import type { WorkflowRole } from './role.ts'

const roles = [
  { value: 'editor', label: 'Editor: also changes and activates it' },
  { value: 'member', label: 'Member: sees, runs, cancels, retries' },
  { value: 'viewer', label: 'Viewer: sees' },
]

export function Members({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { list, nameOf } = usePeople()
  const change = useChange('updateWorkflow', {
    stale: ['getWorkflow', 'listWorkflows'],
    failed: 'Could not change the members',
  })
  const [adding, setAdding] = useState('')
  const [removing, setRemoving] = useState<string | null>(null)
  const isOwner = role === 'owner'
  const { members, workflow_id, owner_id } = workflow
  const set = (next: Workflow['members']) => change.mutateAsync({ workflow_id, members: next })
  const others = list.filter(
    (person) =>
      person.user_id !== owner_id &&
      person.role !== 'guest' &&
      !members.some(({ user_id }) => user_id === person.user_id),
  )
  return (
    <>
      <Section
        title="People"
        description="Members run the workflow and see its runs. Everyone in the workspace can see that it exists."
      >
        <Card className="flex flex-col divide-y divide-line px-4 py-1">
          <div className="flex items-center justify-between gap-3 py-2.5">
            <span className="inline-block first-letter:uppercase">{nameOf(owner_id)}</span>
            <span className="text-ink-2">Owner</span>
          </div>
          {members.map((member) => (
            <div key={member.user_id} className="flex flex-wrap items-center justify-between gap-3 py-2">
              <span>{nameOf(member.user_id)}</span>
              {isOwner ? (
                <span className="flex max-w-full items-center gap-2">
                  <Field label={`Role of ${nameOf(member.user_id)}`} hideLabel className="w-78 min-w-0 shrink">
                    <Select
                      options={roles}
                      value={member.role}
                      onChange={(event) =>
                        void set(
                          members.map((one) =>
                            one === member ? { ...one, role: event.target.value as 'member' } : one,
                          ),
                        )
                      }
                    />
                  </Field>
                  <Button size="small" look="quiet" onClick={() => setRemoving(member.user_id)}>
                    Remove
                  </Button>
                </span>
              ) : (
                <span className="text-ink-2">{roleLabel(member.role)}</span>
              )}
            </div>
          ))}
          {isOwner && others.length > 0 && (
            <div className="flex items-end gap-2 py-3">
              <Field label="Share with" className="min-w-48 flex-1">
                <Select
                  value={adding}
                  onChange={(event) => setAdding(event.target.value)}
                  options={[
                    { value: '', label: 'Choose a colleague' },
                    ...others.map(({ user_id, name, email }) => ({ value: user_id, label: `${name} (${email})` })),
                  ]}
                />
              </Field>
              <Button
                disabled={adding === ''}
                pending={change.isPending}
                onClick={() =>
                  void set([...members, { user_id: adding, role: 'member' }]).then(
                    () => setAdding(''),
                    () => {},
                  )
                }
              >
                Add
              </Button>
            </div>
          )}
        </Card>
        <ConfirmDialog
          open={removing !== null}
          onClose={() => setRemoving(null)}
          title={`Remove ${nameOf(removing)}?`}
          consequence="They lose access to its versions and runs, except runs they started. The history is kept."
          action="Remove"
          onConfirm={() => set(members.filter(({ user_id }) => user_id !== removing))}
        />
      </Section>
      <TeamShares
        shares={workflow.teams}
        roles={[roles[1]!, roles[0]!, roles[2]!]}
        mayManage={isOwner}
        pending={change.isPending}
        onChange={(teams) => change.mutateAsync({ workflow_id, teams: teams as never })}
      />
    </>
  )
}
