import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { WebhookToken, Workflow } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Empty } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import type { WorkflowRole } from './role.ts'
import { lastUsed, MadeToken, TokenSection } from './token-section.tsx'
import { useWorkflowInputs } from './use-workflow-inputs.ts'
import { authMethodLabel, authMethods, authOf } from './webhook-auth.ts'
import { sampleCall } from './webhook-sample.ts'

export function WebhookTokens({ workflow, role }: { workflow: Workflow; role: WorkflowRole }) {
  const { workflow_id } = workflow
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
        { header: 'Name', link: true, cell: (row) => row.name ?? <span className="text-ink-3">no name</span> },
        { header: 'Authentication', width: '9rem', secondary: true, cell: ({ auth }) => authMethodLabel(auth) },
        {
          header: 'Prefix',
          width: '7rem',
          secondary: true,
          cell: (row) => <code className="font-mono text-xs">{row.prefix}…</code>,
        },
        lastUsed,
        { header: 'Expires', width: '8rem', secondary: true, cell: (row) => <RelativeTime at={row.expires_at} /> },
      ]}
      rowTo={({ token_id }) => `/workflows/${workflow_id}/tokens/${token_id}`}
      make={(onClose) => <NewToken workflow={workflow} onClose={onClose} />}
      enable={({ token_id }, enabled) => change.mutate({ workflow_id, token_id, enabled })}
      remove={({ token_id }) => remove.mutateAsync({ workflow_id, token_id })}
      consequence="Programs that use it lose access at once. This cannot be undone."
    />
  )
}

type Made = WebhookToken & { token: string; secret?: string }
type NewValues = { name: string; proof: string; secret: string; header: string; expires_on: string }

function NewToken({ workflow, onClose }: { workflow: Workflow; onClose(): void }) {
  const [made, setMade] = useState<Made | null>(null)
  const [proof, setProof] = useState('bearer')
  const create = useChange('createWebhookToken', { stale: ['listWebhookTokens'] })
  const submit = async ({ name, secret, header, expires_on }: NewValues): Promise<void> =>
    setMade(
      await create.mutateAsync({
        workflow_id: workflow.workflow_id,
        name: name || null,
        expires_at: expires_on ? new Date(`${expires_on}T23:59:59`).toISOString() : null,
        auth: authOf(proof, header),
        ...(secret && { secret }),
      }),
    )
  if (made) return <Created made={made} workflow={workflow} onClose={onClose} />
  return (
    <Dialog open onClose={onClose} title="New webhook token" size="medium">
      <Form<NewValues> submit="Create token" onCancel={onClose} onSubmit={submit}>
        <Field name="name" label="Name" hint="The program that will use it.">
          <Input autoFocus maxLength={200} />
        </Field>
        <Field name="proof" label="Authentication of callers" hint={authMethods[proof]?.hint}>
          <Select
            value={proof}
            onChange={(event) => setProof(event.currentTarget.value)}
            options={Object.entries(authMethods).map(([value, { label }]) => ({ value, label }))}
          />
        </Field>
        {proof === 'custom' && (
          <Field name="header" label="Header with the signature" hint="HMAC SHA-256 of the body, in hex.">
            <Input placeholder="X-Signature" />
          </Field>
        )}
        {proof !== 'bearer' && proof !== 'url' && (
          <Field name="secret" label="Secret" hint="Empty: one is made, or you add the sender’s later.">
            <Input type="password" autoComplete="off" />
          </Field>
        )}
        <Field name="expires_on" label="Expires on" hint="Empty: never expires.">
          <Input type="date" />
        </Field>
      </Form>
    </Dialog>
  )
}

function Created({ made, workflow, onClose }: { made: Made; workflow: Workflow; onClose(): void }) {
  const inputs = useWorkflowInputs(workflow.workflow_id)
  const { token, secret, url, auth } = made
  const address = url ?? ''
  const isBearer = auth.kind === 'bearer'
  return (
    <Dialog open onClose={onClose} title="Token created" size="medium">
      <MadeToken secret={secret ?? (isBearer ? token : address)} onClose={onClose}>
        <CopyField label="Address" text={address} />
        {isBearer && <CopyField label="Try it" text={sampleCall(made, inputs, token)} />}
      </MadeToken>
    </Dialog>
  )
}
