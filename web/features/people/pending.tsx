import { X } from 'lucide-react'
import { useState } from 'react'
import type { PendingInvitation } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { inSentence, t } from '#web/words/language.ts'
import { PersonName } from './names.tsx'
import { roleLabel } from './roles.ts'

const into = { thread: t('a thread'), job: t('a job') }

export function PendingInvitations({ workspaceId }: { workspaceId: string }) {
  const invitations = useList('listInvitations', { workspace_id: workspaceId })
  const [asked, setAsked] = useState<PendingInvitation | null>(null)
  const revoke = useChange('revokeInvitation', { stale: ['listInvitations'], done: 'Invitation withdrawn' })
  return (
    <Section title="Pending invitations" className="mt-8">
      <Loaded of={invitations} what="the invitations" rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-ink-2">No pending invitations.</p>
          ) : (
            <Table
              label="Pending invitations"
              rows={rows}
              rowKey={(row) => row.invitation_id}
              more={invitations.more}
              columns={[
                { header: 'E-mail', cell: (row) => row.email },
                {
                  header: 'Invited to',
                  cell: (row) => (
                    <Badge>
                      {row.resource_kind ? into[row.resource_kind] : 'the workspace'}, {inSentence(roleLabel(row.role))}
                    </Badge>
                  ),
                  width: '13rem',
                  secondary: true,
                },
                {
                  header: 'Invited by',
                  cell: (row) => <PersonName id={row.invited_by} />,
                  secondary: true,
                  width: '12rem',
                },
                {
                  header: 'Expires',
                  cell: (row) => <RelativeTime at={row.expires_at} />,
                  secondary: true,
                  width: '8rem',
                },
                {
                  header: <span className="sr-only">Actions</span>,
                  cell: (row) => (
                    <IconButton
                      icon={X}
                      size="small"
                      label={`Withdraw the invitation for ${row.email}`}
                      onClick={() => setAsked(row)}
                    />
                  ),
                  width: '4rem',
                  align: 'right',
                },
              ]}
            />
          )
        }
      </Loaded>
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title="Withdraw the invitation?"
        consequence={`The link sent to ${asked?.email ?? 'they'} stops working. You can invite them again.`}
        action="Withdraw"
        onConfirm={() => revoke.mutateAsync({ workspace_id: workspaceId, invitation_id: asked!.invitation_id })}
      />
    </Section>
  )
}
