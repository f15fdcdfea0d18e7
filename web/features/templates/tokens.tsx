import { Code, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { EmbedToken, EmbedTokenMade, Template } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Switch, Textarea } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

export function Tokens({ template, mayChange }: { template: Template; mayChange: boolean }) {
  const { template_id } = template
  const tokens = useList('listTemplateTokens', { template_id })
  const [making, setMaking] = useState(false)
  const [asked, setAsked] = useState<EmbedToken | null>(null)
  const [shown, setShown] = useState<EmbedToken | null>(null)
  const change = useChange('updateTemplateToken', {
    stale: ['listTemplateTokens'],
    failed: 'Could not change the token',
  })
  const remove = useChange('deleteTemplateToken', { stale: ['listTemplateTokens'], done: 'The token was deleted' })
  const make = mayChange && (
    <Button size="small" icon={Plus} onClick={() => setMaking(true)}>
      New token
    </Button>
  )
  return (
    <Section
      title="Tokens"
      description="Create one token per site. You get a line of HTML to add to the page."
      actions={make}
    >
      <Loaded of={tokens} what="the tokens">
        {(rows) => (
          <Table
            label="Embed tokens"
            rows={rows}
            rowKey={(row) => row.token_id}
            more={tokens.more}
            empty={
              <Empty title="No tokens yet" action={make}>
                Create one to add this template to a page.
              </Empty>
            }
            columns={[
              {
                header: 'Name',
                cell: (row) => (
                  <span title={row.allowed_origins.join(', ')}>
                    <span className="font-medium">{row.name ?? 'Unnamed'}</span>{' '}
                    <code className="font-mono text-xs text-ink-2">{row.prefix}…</code>
                  </span>
                ),
              },
              { header: 'Used', cell: (row) => <RelativeTime at={row.last_used_at} />, width: '8rem', secondary: true },
              {
                header: 'On',
                width: '4.5rem',
                cell: (row) => (
                  <Switch
                    hideLabel
                    label={`Token ${row.name ?? row.prefix} enabled`}
                    disabled={!mayChange}
                    checked={row.enabled}
                    onCheckedChange={(enabled) => change.mutate({ template_id, token_id: row.token_id, enabled })}
                  />
                ),
              },
              {
                header: <span className="sr-only">Actions</span>,
                width: '6rem',
                align: 'right',
                cell: (row) => (
                  <>
                    <IconButton
                      size="small"
                      icon={Code}
                      label={`Show the line for ${row.name ?? row.prefix}`}
                      onClick={() => setShown(row)}
                    />
                    {mayChange && (
                      <IconButton
                        size="small"
                        icon={Trash2}
                        label={`Delete the token ${row.name ?? row.prefix}`}
                        onClick={() => setAsked(row)}
                      />
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <Dialog open={shown !== null} onClose={() => setShown(null)} size="medium" title="Add the chat to a page">
        {shown && <Line template_id={template_id} token_id={shown.token_id} />}
      </Dialog>
      <NewToken open={making} onClose={() => setMaking(false)} template={template} />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete the token ${asked?.name ?? asked?.prefix}?`}
        consequence="Pages that use it no longer show the chat. To disable it temporarily, switch it off instead."
        action="Delete token"
        onConfirm={() => remove.mutateAsync({ template_id, token_id: asked!.token_id })}
      />
    </Section>
  )
}

type Values = { name: string; origins: string }

/** Shows the embed line of a token. Lists do not contain the token, so it is fetched on request. */
function Line(which: { template_id: string; token_id: string }) {
  const shown = useApi('getTemplateToken', which)
  return (
    <Loaded of={shown} what="the token">
      {({ token }) =>
        token === null ? (
          <p>An older release made this token, and only its hash is stored. Create a new one for the page.</p>
        ) : (
          <div className="flex flex-col gap-4">
            <CopyField label="Add this line to the page" text={snippet(which.template_id, token)} />
            <CopyField label="The token only" text={token} />
          </div>
        )
      }
    </Loaded>
  )
}

function NewToken({ open, onClose, template }: { open: boolean; onClose(): void; template: Template }) {
  const [made, setMade] = useState<EmbedTokenMade | null>(null)
  const [strict, setStrict] = useState(false)
  const create = useChange('createTemplateToken', { stale: ['listTemplateTokens'], onDone: setMade })
  const close = (): void => {
    setMade(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} size="medium" title={made ? 'Your new token' : 'New token'}>
      {made ? (
        <div className="flex flex-col gap-4">
          <CopyField label="Add this line to the page" text={snippet(template.template_id, made.token)} />
          <CopyField label="The token only" text={made.token} />
          <div className="flex justify-end">
            <Button look="primary" onClick={close}>
              Saved
            </Button>
          </div>
        </div>
      ) : (
        <Form<Values>
          submit="Create token"
          onCancel={close}
          onSubmit={({ name, origins }) =>
            create.mutateAsync({
              template_id: template.template_id,
              name: name || null,
              allowed_origins: origins.split(/[\s,]+/).filter((origin) => origin !== ''),
              require_origin: strict,
            })
          }
        >
          <Field name="name" label="Name">
            <Input autoFocus maxLength={200} placeholder="shop.example" />
          </Field>
          <Field name="origins" label="Allowed sites" hint="One per line: https://shop.example">
            <Textarea
              rows={3}
              spellCheck={false}
              className="font-mono text-xs"
              defaultValue={template.allowed_origins.join('\n')}
            />
          </Field>
          <Switch label="Reject requests without an Origin header" checked={strict} onCheckedChange={setStrict} />
        </Form>
      )}
    </Dialog>
  )
}

const snippet = (template: string, token: string): string =>
  `<script src="${location.origin}/widget/v1.js" data-template="${template}" data-token="${token}" async></script>`
