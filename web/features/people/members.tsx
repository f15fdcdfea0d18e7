import { LogOut, MoreHorizontal, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Invitation } from '#sdk/types.generated'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { toast } from '#web/ui/toast.tsx'
import { InviteDialog } from './invite.tsx'
import { roleLabel } from './roles.ts'

export type SharedRole = 'owner' | 'member' | 'viewer'
export type SharedMember = { user_id: string; name: string; email: string; role: SharedRole }

export type SharedMembersProps = {
  /** The noun for texts: "this thread", "this job". */
  what: string
  members: SharedMember[]
  /** What each role may do. */
  roles: Record<SharedRole, string>
  mayManage: boolean
  onInvite(email: string, role: SharedRole): Promise<Invitation>
  onRole(userId: string, role: SharedRole): Promise<unknown>
  onRemove(userId: string): Promise<unknown>
  onLeft(): void
}

/** The members of a thread or a job. People outside the workspace join as guests, who see nothing else. */
export function SharedMembers({
  what,
  members,
  roles,
  mayManage,
  onInvite,
  onRole,
  onRemove,
  onLeft,
}: SharedMembersProps) {
  const { userId } = useRole()
  const [inviting, setInviting] = useState(false)
  const [asked, setAsked] = useState<SharedMember | null>(null)
  const choices = (['member', 'viewer', 'owner'] as const).map((value) => ({
    value,
    label: `${roleLabel(value)}: ${roles[value]}`,
  }))
  const self = asked?.user_id === userId
  const change = async (member: SharedMember, role: SharedRole): Promise<void> => {
    if (role === member.role) return
    try {
      await onRole(member.user_id, role)
    } catch (error) {
      toast.failed(`Could not change the role of ${member.name}`, error)
    }
  }
  return (
    <div className="flex flex-col gap-3">
      <Table
        label={`Members of ${what}`}
        rows={members}
        rowKey={(row) => row.user_id}
        empty={<Empty title={`No members in ${what}`} />}
        columns={[
          { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
          { header: 'E-mail', cell: (row) => <span className="text-ink-2">{row.email}</span>, secondary: true },
          {
            header: 'Role',
            cell: (row) => <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'}>{roleLabel(row.role)}</Badge>,
            width: '7rem',
          },
          {
            header: <span className="sr-only">Actions</span>,
            width: '4rem',
            align: 'right',
            cell: (row) =>
              mayManage ? (
                <Menu trigger={<IconButton size="small" icon={MoreHorizontal} label={`Actions for ${row.name}`} />}>
                  <MenuGroup label="Role">
                    <MenuChoice
                      value={row.role}
                      options={(['owner', 'member', 'viewer'] as const).map((value) => ({
                        value,
                        label: roleLabel(value),
                      }))}
                      onChange={(role) => void change(row, role)}
                    />
                  </MenuGroup>
                  <MenuSeparator />
                  <MenuItem danger icon={UserMinus} onSelect={() => setAsked(row)}>
                    {row.user_id === userId ? 'Leave…' : 'Remove…'}
                  </MenuItem>
                </Menu>
              ) : (
                row.user_id === userId && (
                  <IconButton size="small" icon={LogOut} label={`Leave ${what}`} onClick={() => setAsked(row)} />
                )
              ),
          },
        ]}
      />
      {mayManage && (
        <div>
          <Button icon={UserPlus} onClick={() => setInviting(true)}>
            Invite
          </Button>
        </div>
      )}
      <InviteDialog
        open={inviting}
        onClose={() => setInviting(false)}
        title={`Invite someone to ${what}`}
        description="Workspace members are added at once. Anyone else gets a link and sees only this."
        roles={choices}
        onInvite={({ email, role }) => onInvite(email, role as SharedRole)}
      />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={self ? `Leave ${what}?` : `Remove ${asked?.name}?`}
        consequence={
          self
            ? `You lose access to ${what}. An owner can invite you again.`
            : `${asked?.name} loses access to ${what} at once. What they wrote or did is kept.`
        }
        action={self ? 'Leave' : 'Remove'}
        onConfirm={async () => {
          await onRemove(asked!.user_id)
          if (self) onLeft()
        }}
      />
    </div>
  )
}
