import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { WebhookToken, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Empty } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import type { WorkflowRole } from './role.ts'
import { lastUsed, MadeToken, TokenSection } from './token-section.tsx'

export function WebhookTokens({ workflow: { workflow_id }, role }: { workflow: Workflow; role: WorkflowRole }) {
  const tokens = useList('listWebhookTokens', { workflow_id })
  const change = useChange('updateWebhookToken', { stale: ['listWebhookTokens'], failed: 'Could not change the token' })
  const remove = useChange('deleteWebhookToken', { stale: ['listWebhookTokens'], done: 'Token deleted' })
  return (
    <TokenSection<WebhookToken>
      title="Webhook tokens"
      description="A program starts the workflow by sending a token to its address. The request body is the input."
      one="Token"
      tokens={tokens}
      isOwner={role === 'owner'}
      empty={
        <Empty icon={KeyRound} title="No tokens yet">
          Create one per program so that you can revoke each separately.
        </Empty>
      }
      columns={[
        { header: 'Name', cell: (row) => row.name ?? <span className="text-ink-3">no name</span> },
        {
          header: 'Prefix',
          width: '10rem',
          secondary: true,
          cell: (row) => <code className="font-mono text-xs">{row.prefix}…</code>,
        },
        lastUsed,
        { header: 'Expires', width: '8rem', secondary: true, cell: (row) => <RelativeTime at={row.expires_at} /> },
      ]}
      make={(onClose) => <NewToken workflow_id={workflow_id} onClose={onClose} />}
      enable={({ token_id }, enabled) => change.mutate({ workflow_id, token_id, enabled })}
      remove={({ token_id }) => remove.mutateAsync({ workflow_id, token_id })}
      consequence="Programs that use it lose access at once. This cannot be undone."
    />
  )
}

function NewToken({ workflow_id, onClose }: { workflow_id: string; onClose(): void }) {
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createWebhookToken', { stale: ['listWebhookTokens'] })
  const address = `${location.origin}/api/webhooks/workflow/${workflow_id}/trigger`
  return (
    <Dialog open onClose={onClose} title={secret === null ? 'New webhook token' : 'Token created'} size="medium">
      {secret === null ? (
        <Form<{ name: string; expires_on: string }>
          submit="Create token"
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
          <Field name="expires_on" label="Expires on" hint="Empty: never expires.">
            <Input type="date" />
          </Field>
        </Form>
      ) : (
        <MadeToken secret={secret} onClose={onClose}>
          <CopyField label="Address" text={address} />
          <CopyField
            label="Try it"
            text={`curl -X POST '${address}' -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{}'`}
          />
        </MadeToken>
      )}
    </Dialog>
  )
}
