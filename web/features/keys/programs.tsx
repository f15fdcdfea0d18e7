import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { OAuthGrant } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Section } from '#web/ui/page.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

/** Programs that were allowed on the consent page; hidden if there are none. */
export function Programs() {
  const { isGuest } = useRole()
  const programs = useList('listOAuthGrants', { limit: 100 }, { enabled: !isGuest })
  const [asked, setAsked] = useState<OAuthGrant | null>(null)
  const remove = useChange('deleteOAuthGrant', { stale: ['listOAuthGrants'], done: 'The program was removed' })
  if ((programs.data?.length ?? 0) === 0) return null
  return (
    <Section
      title="Programs"
      description="Programs that you let run workflows of this workspace over MCP."
      className="mt-10"
    >
      <Table
        label="Programs"
        rows={programs.data ?? []}
        rowKey={(row) => row.grant_id}
        more={programs.more}
        columns={[
          { header: 'Name', cell: (row) => <span className="break-words">{row.client_name}</span> },
          { header: 'Allowed', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem', secondary: true },
          { header: 'Last token', cell: (row) => <RelativeTime at={row.last_used_at} />, width: '9rem' },
          {
            header: <span className="sr-only">Actions</span>,
            cell: (row) => (
              <IconButton
                icon={Trash2}
                size="small"
                label={`Remove ${row.client_name}`}
                onClick={() => setAsked(row)}
              />
            ),
            width: '4rem',
            align: 'right',
          },
        ]}
      />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Remove ${asked?.client_name}?`}
        consequence="Its tokens stop working at once. It can ask you again."
        action="Remove program"
        onConfirm={() => remove.mutateAsync({ grant_id: asked!.grant_id })}
      />
    </Section>
  )
}
