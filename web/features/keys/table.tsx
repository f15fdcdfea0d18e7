import { Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { ApiKey } from '#sdk/types.generated'
import { Badge } from '#web/ui/badge.tsx'
import { IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { type Column, Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { scopesInWords } from './scopes.tsx'

/** API keys with their permissions; of a person, or of a service account. */
export function KeyTable({
  label,
  rows,
  more,
  empty,
  columns = [],
  onDelete,
}: {
  label: string
  rows: ApiKey[]
  more: Parameters<typeof Table>[0]['more']
  empty: ReactNode
  columns?: Column<ApiKey>[]
  onDelete(key: ApiKey): Promise<unknown>
}) {
  const [asked, setAsked] = useState<ApiKey | null>(null)
  return (
    <>
      <Table
        label={label}
        rows={rows}
        rowKey={(row) => row.key_id}
        more={more}
        empty={empty}
        columns={[
          { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
          {
            header: 'Prefix',
            cell: (row) => <code className="font-mono text-xs text-ink-2">{row.prefix}…</code>,
            width: '8rem',
            secondary: true,
          },
          {
            header: 'Scopes',
            cell: (row) => (
              <span className="block max-w-56 truncate text-ink-2" title={scopesInWords(row.scopes)}>
                {scopesInWords(row.scopes)}
              </span>
            ),
            secondary: true,
          },
          ...columns,
          {
            header: 'Last used',
            cell: (row) => <RelativeTime at={row.last_used_at} />,
            width: '8rem',
            secondary: true,
          },
          { header: 'Expires', cell: (row) => <Expiry at={row.expires_at} />, width: '8rem' },
          {
            header: <span className="sr-only">Actions</span>,
            cell: (row) => (
              <IconButton
                icon={Trash2}
                size="small"
                label={`Delete the key ${row.name}`}
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
        title={`Delete the key ${asked?.name}?`}
        consequence="Programs that use it lose access at once, and their connections are closed. This cannot be undone."
        action="Delete key"
        onConfirm={() => onDelete(asked!)}
      />
    </>
  )
}

function Expiry({ at }: { at: string | null }) {
  if (at !== null && Date.parse(at) <= Date.now()) return <Badge tone="danger">Ended</Badge>
  return <RelativeTime at={at} />
}
