import { AppWindow, Plus } from 'lucide-react'
import { useState } from 'react'
import type { EmbedToken, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Switch, Textarea } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import type { WorkflowRole } from './role.ts'

export function EmbedTokens({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { workflow_id } = workflow
  const tokens = useList('listEmbedTokens', { workflow_id })
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<EmbedToken | null>(null)
  const change = useChange('updateEmbedToken', { stale: ['listEmbedTokens'], failed: 'The token was not changed' })
  const remove = useChange('deleteEmbedToken', { stale: ['listEmbedTokens'], done: 'Token deleted' })
  const isOwner = role === 'owner'
  return (
    <Section
      title="Embed tokens"
      description="For a widget on your own web site that gathers what the workflow needs. Visitors can see the token; the sites it works on are its fence."
      actions={
        isOwner && (
          <Button size="small" icon={Plus} onClick={() => setMaking(true)}>
            New embed token
          </Button>
        )
      }
    >
      <Loaded of={tokens} what="the embed tokens">
        {(rows) => (
          <Table
            label="Embed tokens"
            rows={rows}
            more={tokens.more}
            rowKey={({ token_id }) => token_id}
            empty={
              <Empty icon={AppWindow} title="Not on any site yet">
                Make a token and name the sites whose pages may use it.
              </Empty>
            }
            columns={[
              { header: 'Name', cell: (row) => row.name ?? <code className="font-mono text-xs">{row.prefix}…</code> },
              {
                header: 'Sites',
                cell: (row) =>
                  row.allowed_origins.length === 0 ? 'this console only' : row.allowed_origins.join(', '),
              },
              {
                header: 'Last used',
                width: '8rem',
                secondary: true,
                cell: (row) => <RelativeTime at={row.last_used_at} />,
              },
              {
                header: 'Works',
                width: '6rem',
                cell: (row) =>
                  isOwner ? (
                    <Switch
                      label={`Embed token ${row.name ?? row.prefix} works`}
                      hideLabel
                      checked={row.enabled}
                      onCheckedChange={(enabled) => change.mutate({ workflow_id, token_id: row.token_id, enabled })}
                    />
                  ) : (
                    <Badge tone={row.enabled ? 'success' : 'neutral'}>{row.enabled ? 'yes' : 'no'}</Badge>
                  ),
              },
              {
                header: <span className="sr-only">Actions</span>,
                width: '6rem',
                align: 'right',
                cell: (row) =>
                  isOwner && (
                    <Button size="small" look="quiet" onClick={() => setDeleting(row)}>
                      Delete
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {making && <NewEmbedToken workflow_id={workflow_id} onClose={() => setMaking(false)} />}
      <ConfirmDialog
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete the embed token ${deleting?.name ?? deleting?.prefix ?? ''}?`}
        consequence="Pages that use it stop working at once, and conversations visitors have begun there end."
        action="Delete token"
        onConfirm={async () => deleting && remove.mutateAsync({ workflow_id, token_id: deleting.token_id })}
      />
    </Section>
  )
}

function NewEmbedToken({ workflow_id, onClose }: { workflow_id: string; onClose(): void }) {
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createEmbedToken', { stale: ['listEmbedTokens'] })
  return (
    <Dialog open onClose={onClose} title={secret === null ? 'New embed token' : 'The token is made'} size="medium">
      {secret === null ? (
        <Form<{ name: string; allowed_origins: string }>
          submit="Make token"
          onCancel={onClose}
          onSubmit={async ({ name, allowed_origins }) => {
            const origins = allowed_origins.split(/\s+/).filter(Boolean)
            const { token } = await create.mutateAsync({ workflow_id, name: name || null, allowed_origins: origins })
            setSecret(token)
          }}
        >
          <Field name="name" label="Name">
            <Input autoFocus maxLength={200} />
          </Field>
          <Field
            name="allowed_origins"
            label="Sites that may use it"
            hint="One per line, such as https://shop.example. Empty: only pages of this console."
          >
            <Textarea rows={3} />
          </Field>
        </Form>
      ) : (
        <div className="flex flex-col gap-4">
          <CopyField label="Token" text={secret} secret />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              I have kept it
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
