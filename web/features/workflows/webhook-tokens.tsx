import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import type { WebhookToken, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Switch } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import type { WorkflowRole } from './role.ts'

export function WebhookTokens({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { workflow_id } = workflow
  const tokens = useList('listWebhookTokens', { workflow_id })
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<WebhookToken | null>(null)
  const change = useChange('updateWebhookToken', { stale: ['listWebhookTokens'], failed: 'The token was not changed' })
  const remove = useChange('deleteWebhookToken', { stale: ['listWebhookTokens'], done: 'Token deleted' })
  const isOwner = role === 'owner'
  return (
    <Section
      title="Webhook tokens"
      description="A program that sends a token to the workflow's address starts it; the body it sends is the input."
      actions={
        isOwner && (
          <Button size="small" icon={Plus} onClick={() => setMaking(true)}>
            New token
          </Button>
        )
      }
    >
      <Loaded of={tokens} what="the tokens">
        {(rows) => (
          <Table
            label="Webhook tokens"
            rows={rows}
            more={tokens.more}
            rowKey={({ token_id }) => token_id}
            empty={
              <Empty icon={KeyRound} title="No token yet">
                Make one for each program that starts this workflow, so that each can be stopped by itself.
              </Empty>
            }
            columns={[
              { header: 'Name', cell: (row) => row.name ?? <span className="text-ink-3">no name</span> },
              {
                header: 'Begins with',
                width: '10rem',
                secondary: true,
                cell: (row) => <code className="font-mono text-xs">{row.prefix}…</code>,
              },
              {
                header: 'Last used',
                width: '8rem',
                secondary: true,
                cell: (row) => <RelativeTime at={row.last_used_at} />,
              },
              {
                header: 'Expires',
                width: '8rem',
                secondary: true,
                cell: (row) => <RelativeTime at={row.expires_at} />,
              },
              {
                header: 'Works',
                width: '6rem',
                cell: (row) =>
                  isOwner ? (
                    <Switch
                      label={`Token ${row.name ?? row.prefix} works`}
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
      {making && <NewToken workflow_id={workflow_id} onClose={() => setMaking(false)} />}
      <ConfirmDialog
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete the token ${deleting?.name ?? deleting?.prefix ?? ''}?`}
        consequence="Programs that use it are refused from now on. It cannot be brought back; a new token must be handed out."
        action="Delete token"
        onConfirm={async () => deleting && remove.mutateAsync({ workflow_id, token_id: deleting.token_id })}
      />
    </Section>
  )
}

function NewToken({ workflow_id, onClose }: { workflow_id: string; onClose(): void }) {
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createWebhookToken', { stale: ['listWebhookTokens'] })
  const address = `${location.origin}/api/webhooks/workflow/${workflow_id}/trigger`
  return (
    <Dialog open onClose={onClose} title={secret === null ? 'New webhook token' : 'The token is made'} size="medium">
      {secret === null ? (
        <Form<{ name: string; expires_on: string }>
          submit="Make token"
          onCancel={onClose}
          onSubmit={async ({ name, expires_on }) => {
            const { token } = await create.mutateAsync({
              workflow_id,
              name: name || null,
              expires_at: expires_on ? new Date(`${expires_on}T23:59:59`).toISOString() : null,
            })
            setSecret(token)
          }}
        >
          <Field name="name" label="Name" hint="Which program will use it.">
            <Input autoFocus maxLength={200} />
          </Field>
          <Field name="expires_on" label="Last day it works" hint="Leave empty for one that does not expire.">
            <Input type="date" />
          </Field>
        </Form>
      ) : (
        <div className="flex flex-col gap-4">
          <CopyField label="Token" text={secret} secret />
          <CopyField label="Address" text={address} />
          <CopyField
            label="Try it"
            text={`curl -X POST '${address}' -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{}'`}
          />
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
