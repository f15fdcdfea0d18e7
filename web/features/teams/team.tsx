import { useNavigate, useParams } from '@tanstack/react-router'
import { UserMinus, UserPlus, UsersRound } from 'lucide-react'
import { useState } from 'react'
import type { Team } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Button, ChangeAndDelete, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { FactRow, Page, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { PersonName, usePeople } from '../people/names.tsx'
import { PeoplePicker } from '../people/picker.tsx'
import { deletionOf } from './deletion.ts'
import { useMayChange } from './role.ts'

export function TeamPage() {
  const { team_id } = useParams({ strict: false }) as { team_id: string }
  const team = useApi('getTeam', { team_id })
  return (
    <LoadedPage of={team} what="the team" title="Team" crumbs={[{ label: 'Teams', to: '/teams' }]}>
      {(found) => <Found team={found} />}
    </LoadedPage>
  )
}

function Found({ team }: { team: Team }) {
  const navigate = useNavigate()
  const { userId } = useRole()
  const { workspaces } = useMe()
  const [open, setOpen] = useState<'add' | 'edit' | 'delete' | null>(null)
  const [leaving, setLeaving] = useState<Team['members'][number] | null>(null)
  const close = (): void => setOpen(null)
  const workspace = workspaces.find(({ workspace_id }) => workspace_id === team.workspace_id)
  const mayChange = useMayChange()(team)
  const remove = useChange('deleteTeam', { stale: ['listTeams'], done: `${team.name} was deleted` })
  const update = useChange('updateTeam', { stale: ['getTeam', 'listTeams'], done: 'Saved', onDone: close })
  const add = useChange('addTeamUsers', { stale: ['getTeam', 'listTeams'], onDone: close })
  const takeOut = useChange('removeTeamMember', { stale: ['getTeam', 'listTeams'] })
  const mayTakeOut = (row: Team['members'][number]): boolean => mayChange || row.user_id === userId
  return (
    <Page
      title={team.name}
      crumbs={[{ label: 'Teams', to: '/teams' }]}
      description={team.description}
      actions={
        mayChange && (
          <>
            <ChangeAndDelete onChange={() => setOpen('edit')} onDelete={() => setOpen('delete')} />
            <Button look="primary" icon={UserPlus} onClick={() => setOpen('add')}>
              Add people
            </Button>
          </>
        )
      }
    >
      <div className="mb-8">
        <FactRow
          facts={[
            [
              'Slug',
              <code key="slug" className="font-mono text-xs">
                {team.slug}
              </code>,
            ],
            ['Workspace', workspace?.name ?? 'another workspace'],
            ['Created by', <PersonName key="owner" id={team.owner_id} />],
            ['Created', <RelativeTime key="made" at={team.created_at} />],
          ]}
        />
      </div>
      <Section title="People">
        <Table
          label="People of the team"
          rows={team.members}
          rowKey={(row) => row.user_id}
          empty={
            <Empty icon={UsersRound} title="No one is in this team yet">
              {mayChange
                ? 'Add people so that the team can approve requests.'
                : "The team's creator or a workspace owner can add people."}
            </Empty>
          }
          columns={[
            { header: 'Name', cell: (row) => row.name },
            { header: 'Added', cell: (row) => <RelativeTime at={row.added_at} />, width: '10rem' },
            {
              header: <span className="sr-only">Actions</span>,
              width: '4rem',
              align: 'right',
              cell: (row) =>
                mayTakeOut(row) && (
                  <IconButton
                    size="small"
                    icon={UserMinus}
                    label={row.user_id === userId ? 'Leave the team' : `Remove ${row.name} from the team`}
                    onClick={() => setLeaving(row)}
                  />
                ),
            },
          ]}
        />
      </Section>
      <AddPeople
        open={open === 'add'}
        onClose={close}
        team={team}
        onAdd={(user_ids) => add.mutateAsync({ team_id: team.team_id, user_ids })}
      />
      {leaving && (
        <ConfirmDialog
          open
          onClose={() => setLeaving(null)}
          title={leaving.user_id === userId ? `Leave ${team.name}?` : `Remove ${leaving.name} from ${team.name}?`}
          consequence={
            leaving.user_id === userId
              ? 'You stay in the workspace. Approvals for this team no longer wait for you. Votes already cast still count.'
              : 'They stay in the workspace. Approvals for this team no longer wait for them. Votes already cast still count.'
          }
          action={leaving.user_id === userId ? 'Leave team' : 'Remove'}
          onConfirm={() => takeOut.mutateAsync({ team_id: team.team_id, user_id: leaving.user_id })}
        />
      )}
      <Dialog open={open === 'edit'} onClose={close} title="Change team">
        <Form<{ name: string; slug: string; description: string }>
          submit="Save"
          onCancel={close}
          onSubmit={({ name, slug, description }) =>
            update.mutateAsync({ team_id: team.team_id, name, slug, description: description || null })
          }
        >
          <Field name="name" label="Name">
            <Input required maxLength={200} defaultValue={team.name} />
          </Field>
          <Field name="slug" label="Slug" hint="Addresses with the old slug stop working.">
            <Input required maxLength={63} defaultValue={team.slug} />
          </Field>
          <Field name="description" label="Description">
            <Textarea rows={2} maxLength={2000} defaultValue={team.description ?? ''} />
          </Field>
        </Form>
      </Dialog>
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        {...deletionOf(team)}
        onConfirm={async () => {
          await remove.mutateAsync({ team_id: team.team_id })
          await navigate({ to: '/teams' })
        }}
      />
    </Page>
  )
}

function AddPeople({
  open,
  onClose,
  team,
  onAdd,
}: {
  open: boolean
  onClose(): void
  team: Team
  onAdd(ids: string[]): Promise<unknown>
}) {
  const [chosen, setChosen] = useState<string[]>([])
  const people = usePeople().filter(
    ({ user_id, role }) => role !== 'guest' && !team.members.some((member) => member.user_id === user_id),
  )
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Add people to ${team.name}`}
      description="Workspace members who are not in the team."
    >
      <Form
        submit={chosen.length === 0 ? 'Add' : `Add ${chosen.length}`}
        onCancel={onClose}
        onSubmit={async () => {
          if (chosen.length === 0) throw new Error('Choose at least one person.')
          await onAdd(chosen)
          setChosen([])
        }}
      >
        <PeoplePicker
          people={people}
          chosen={chosen}
          onChange={setChosen}
          nobody="Everyone in this workspace is already in the team."
        />
      </Form>
    </Dialog>
  )
}
