import { AppWindow } from 'lucide-react'
import { useState } from 'react'
import type { EmbedToken, Workflow } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { CopyButton } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { Empty } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import type { WorkflowRole } from './role.ts'
import { lastUsed, MadeToken, TokenSection } from './token-section.tsx'

export function EmbedTokens({ workflow: { workflow_id }, role }: { workflow: Workflow; role: WorkflowRole }) {
  const tokens = useList('listEmbedTokens', { workflow_id })
  const change = useChange('updateEmbedToken', { stale: ['listEmbedTokens'], failed: 'Could not change the token' })
  const remove = useChange('deleteEmbedToken', { stale: ['listEmbedTokens'], done: 'Token deleted' })
  return (
    <TokenSection<EmbedToken>
      title="Embed tokens"
      description="For a widget on your site that collects the workflow's input. Visitors can see the token; the allowed sites limit where it works."
      one="Embed token"
      tokens={tokens}
      isOwner={role === 'owner'}
      empty={
        <Empty icon={AppWindow} title="No embed tokens yet">
          Create a token and list the sites that may use it.
        </Empty>
      }
      columns={[
        { header: 'Name', cell: (row) => row.name ?? <code className="font-mono text-xs">{row.prefix}…</code> },
        {
          header: 'Sites',
          cell: (row) => (row.allowed_origins.length === 0 ? t('this console only') : row.allowed_origins.join(', ')),
        },
        {
          header: 'Token',
          width: '7rem',
          secondary: true,
          cell: ({ token_id }) => <CopyToken workflow_id={workflow_id} token_id={token_id} />,
        },
        lastUsed,
      ]}
      make={(onClose) => <NewEmbedToken workflow_id={workflow_id} onClose={onClose} />}
      enable={({ token_id }, enabled) => change.mutate({ workflow_id, token_id, enabled })}
      remove={({ token_id }) => remove.mutateAsync({ workflow_id, token_id })}
      consequence="Pages that use it stop working at once, and their conversations end."
    />
  )
}

/** Copies a token. Lists do not contain the token. Null: an older release created it, and only its hash is stored. */
function CopyToken(which: { workflow_id: string; token_id: string }) {
  const { data } = useApi('getEmbedToken', which)
  return data?.token ? <CopyButton text={data.token} /> : null
}

function NewEmbedToken({ workflow_id, onClose }: { workflow_id: string; onClose(): void }) {
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createEmbedToken', { stale: ['listEmbedTokens'] })
  return (
    <Dialog open onClose={onClose} title={secret === null ? 'New embed token' : 'Token created'} size="medium">
      {secret === null ? (
        <Form<{ name: string; allowed_origins: string }>
          submit="Create token"
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
            label="Allowed sites"
            hint="One per line, such as https://shop.example. Empty: only pages of this console."
          >
            <Textarea rows={3} />
          </Field>
        </Form>
      ) : (
        <MadeToken secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}
