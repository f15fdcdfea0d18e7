import { MoreHorizontal, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { WorkspaceMember } from '#sdk/types.generated'
import { api, invalidate, useChange, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { Page, Section } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { InviteDialog } from './invite.tsx'
import { useWorkspaceId } from './names.tsx'
import { PendingInvitations } from './pending.tsx'
import { OwnPresence, PresenceDot, usePresence } from './presence.tsx'
import { invitableRoles, type Role, roleLabel, roleWords } from './roles.ts'

export function PeoplePage() {
  const workspace_id = useWorkspaceId()
  const { workspace } = useMe()
  const { isOwner } = useRole()
  const [inviting, setInviting] = useState(false)
  const search = useSearchText()
  const members = useList('listWorkspaceMembers', { workspace_id, limit: 100, ...search.query })
  const presence = usePresence(workspace_id)
  return (
    <Page
      title="People"
      description={`People in ${workspace?.name ?? t('this workspace')} and their roles.`}
      actions={
        <>
          <OwnPresence />
          {isOwner && (
            <Button look="primary" icon={UserPlus} onClick={() => setInviting(true)}>
              Invite
            </Button>
          )}
        </>
      }
    >
      <SearchBar search={search} rows={members.data} />
      <Loaded of={members} what="the members">
        {(rows) => (
          <Table
            label="Workspace members"
            rows={rows}
            rowKey={(row) => row.user_id}
            more={members.more}
            empty={emptyWith(search, <Empty title="No members" />)}
            columns={[
              {
                header: 'Name',
                cell: (row) => (
                  <span className="flex min-w-0 items-center gap-2">
                    <PresenceDot status={presence.get(row.user_id)} />
                    <span className="truncate font-medium">{row.name}</span>
                    {row.kind === 'service_account' && <Badge>Service account</Badge>}
                  </span>
                ),
              },
              {
                header: 'E-mail',
                cell: (row) => <span className="text-ink-2">{row.kind === 'person' && row.email}</span>,
                secondary: true,
              },
              { header: 'Role', cell: (row) => <RoleBadge role={row.role} />, width: '7rem' },
              { header: 'Since', cell: (row) => <RelativeTime at={row.joined_at} />, width: '9rem', secondary: true },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) => <MemberMenu member={row} />,
                width: '4rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      {isOwner && <PendingInvitations workspaceId={workspace_id} />}
      <Section title="About roles" className="mt-8">
        <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[auto_1fr]">
          {Object.entries(roleWords).map(([role, { can }]) => (
            <div key={role} className="col-span-full grid grid-cols-subgrid">
              <dt>
                <RoleBadge role={role} />
              </dt>
              <dd className="text-ink-2">{can}</dd>
            </div>
          ))}
        </dl>
      </Section>
      <InviteDialog
        open={inviting}
        onClose={() => setInviting(false)}
        title="Invite someone"
        description={`They get access to ${workspace?.name ?? t('this workspace')} after they open the link and sign in with that address.`}
        roles={invitableRoles}
        onInvite={async ({ email, role }) => {
          const made = await api.inviteToWorkspace({ workspace_id, email, role: role as 'member' })
          await invalidate('listInvitations', 'listWorkspaceMembers')
          return made
        }}
      />
    </Page>
  )
}

const RoleBadge = ({ role }: { role: string }) => (
  <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{roleLabel(role)}</Badge>
)

const rolesFor = ({ kind }: WorkspaceMember): Role[] =>
  kind === 'service_account' ? ['member', 'viewer'] : (Object.keys(roleWords) as Role[])

function MemberMenu({ member }: { member: WorkspaceMember }) {
  const workspace_id = useWorkspaceId()
  const { workspace } = useMe()
  const { isOwner, userId } = useRole()
  const [asking, setAsking] = useState<'remove' | Role | null>(null)
  const self = member.user_id === userId
  const change = useChange('updateWorkspaceMember', {
    stale: ['listWorkspaceMembers'],
    done: `Changed the role of ${member.name}`,
    failed: `Could not change the role of ${member.name}`,
  })
  const remove = useChange('removeWorkspaceMember', { stale: ['listWorkspaceMembers'] })
  if (!isOwner && !self) return null
  const setRole = (role: Role): Promise<unknown> => change.mutateAsync({ workspace_id, user_id: member.user_id, role })
  const choose = (role: Role): void => {
    if (role === member.role) return
    if (self) setAsking(role)
    else void setRole(role).catch(() => {})
  }
  return (
    <>
      <Menu trigger={<IconButton icon={MoreHorizontal} label={`Actions for ${member.name}`} size="small" />}>
        {isOwner && (
          <>
            <MenuGroup label="Role">
              <MenuChoice
                value={member.role}
                onChange={choose}
                options={rolesFor(member).map((value) => ({ value, label: roleWords[value].label }))}
              />
            </MenuGroup>
            <MenuSeparator />
          </>
        )}
        <MenuItem icon={UserMinus} danger onSelect={() => setAsking('remove')}>
          {self ? 'Leave this workspace…' : 'Remove from workspace…'}
        </MenuItem>
      </Menu>
      <ConfirmDialog
        open={asking === 'remove'}
        onClose={() => setAsking(null)}
        title={self ? `Leave ${workspace?.name}?` : `Remove ${member.name}?`}
        consequence={
          self
            ? 'You lose access at once. Only an owner can invite you again.'
            : `${member.name} loses access to this workspace at once. What they created is kept. You can invite them again.`
        }
        action={self ? 'Leave' : 'Remove'}
        onConfirm={async () => {
          await remove.mutateAsync({ workspace_id, user_id: member.user_id })
          if (self) location.assign('/')
        }}
      />
      <ConfirmDialog
        open={asking !== null && asking !== 'remove'}
        onClose={() => setAsking(null)}
        title="Give up ownership?"
        consequence="You can no longer manage people, billing or the workspace. You cannot undo this yourself."
        action="Change my role"
        onConfirm={async () => {
          await setRole(asking as Role)
          location.reload()
        }}
      />
    </>
  )
}
