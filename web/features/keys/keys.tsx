import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ApiKey } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { NewKey } from './new-key.tsx'

export function KeysPage() {
  const { workspaces } = useMe()
  const keys = useList('listApiKeys')
  const [making, setMaking] = useState(false)
  const [asked, setAsked] = useState<ApiKey | null>(null)
  const remove = useChange('deleteApiKey', { stale: ['listApiKeys'], done: 'The key was deleted' })
  const workspaceName = (id: string): string =>
    workspaces.find(({ workspace_id }) => workspace_id === id)?.name ?? 'a workspace you left'
  const make = (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New API key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="A program with one of your keys can do what you can do. Use one key per program so that you can revoke each separately."
      actions={make}
    >
      <Loaded of={keys} what="your API keys">
        {(rows) => (
          <Table
            label="Your API keys"
            rows={rows}
            rowKey={(row) => row.key_id}
            more={keys.more}
            empty={
              <Empty icon={KeyRound} title="No API keys yet" action={make}>
                Create one to call the API from a script, the command line or another program.
              </Empty>
            }
            columns={[
              { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
              {
                header: 'Prefix',
                cell: (row) => <code className="font-mono text-xs text-ink-2">{row.prefix}…</code>,
                width: '10rem',
                secondary: true,
              },
              {
                header: 'For',
                cell: (row) =>
                  row.workspace_id ? (
                    workspaceName(row.workspace_id)
                  ) : (
                    <span className="text-ink-2">all your workspaces</span>
                  ),
                width: '11rem',
                secondary: true,
              },
              {
                header: 'Last used',
                cell: (row) => <RelativeTime at={row.last_used_at} />,
                width: '9rem',
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
        )}
      </Loaded>
      <NewKey open={making} onClose={() => setMaking(false)} />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete the key ${asked?.name}?`}
        consequence="Programs that use it lose access at once, and their connections are closed. This cannot be undone."
        action="Delete key"
        onConfirm={() => remove.mutateAsync({ key_id: asked!.key_id })}
      />
    </Page>
  )
}

function Expiry({ at }: { at: string | null }) {
  if (at !== null && Date.parse(at) <= Date.now()) return <Badge tone="danger">Ended</Badge>
  return <RelativeTime at={at} />
}
