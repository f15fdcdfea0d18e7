import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { ChannelConfig } from '#sdk/types.generated'
import { useAll, useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Field, Form, Input, Select, Switch, withPresent } from '#web/ui/field.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { ErrorState, Loaded } from '#web/ui/states.tsx'
import { inSentence, t } from '#web/words/language.ts'
import { deletion, useChannelSwitch } from './actions.ts'
import { Credentials, credentialsOf } from './credentials.tsx'
import { TestMessage } from './test-message.tsx'
import { Steps, vendors } from './vendors.tsx'

export function ChannelPage() {
  const { config_id } = useParams({ strict: false }) as { config_id: string }
  const channels = useList('listChannelConfigs', { limit: 200 })
  return (
    <Loaded of={channels} what="the channel">
      {(rows) => {
        const found = rows.find((row) => row.config_id === config_id)
        if (found) return <Found channel={found} />
        return (
          <Page title="Channel" crumbs={[{ label: 'Channels', to: '/channels' }]}>
            <ErrorState error={new HeddleProblem(404, {}, null)} what="the channel" />
          </Page>
        )
      }}
    </Loaded>
  )
}

const stale = ['listChannelConfigs', 'listChannelConfigsOfTemplate'] as const

function Found({ channel }: { channel: ChannelConfig }) {
  const navigate = useNavigate()
  const { canWrite } = useRole()
  const [asking, setAsking] = useState(false)
  const { config_id } = channel
  const vendor = vendors[channel.channel]
  const missing = vendor.credentials.filter(({ name }) => !channel.credentials_set.includes(name))
  const toggle = useChannelSwitch()
  const remove = useChange('deleteChannelConfig', { stale: [...stale], done: 'The channel was deleted' })
  return (
    <Page
      title={channel.name ?? `${vendor.title} ${channel.external_id}`}
      crumbs={[{ label: 'Channels', to: '/channels' }]}
      description={
        <span className="flex items-center gap-2">
          {vendor.title} <Badge tone={channel.enabled ? 'success' : 'neutral'}>{channel.enabled ? 'On' : 'Off'}</Badge>
        </span>
      }
      actions={
        canWrite && (
          <>
            <Switch
              label="On"
              checked={channel.enabled}
              disabled={toggle.isPending}
              onCheckedChange={(enabled) => toggle.mutate({ config_id, enabled })}
            />
            <Button icon={Trash2} onClick={() => setAsking(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      {(missing.length > 0 || channel.template_id === null) && (
        <p role="status" className="mb-6 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
          To switch it on, add{' '}
          {[
            ...missing.map(({ label }) => t('the {0}', [inSentence(label)])),
            ...(channel.template_id === null ? [t('a template that answers')] : []),
          ].join(', ')}
          .
        </p>
      )}
      <Section title="At the provider" className="max-w-2xl">
        <Steps steps={vendor.after} />
        <div className="mt-4">
          <CopyField label="Address to enter at the vendor" text={channel.inbound_url} />
        </div>
      </Section>
      {canWrite && (
        <>
          <TestMessage channel={channel} />
          <Change key={channel.updated_at} channel={channel} />
        </>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        {...deletion}
        onConfirm={async () => {
          await remove.mutateAsync({ config_id })
          await navigate({ to: '/channels' })
        }}
      />
    </Page>
  )
}

function Change({ channel }: { channel: ChannelConfig }) {
  const templates = useAll('listTemplates', { limit: 200 })
  const vendor = vendors[channel.channel]
  const update = useChange('updateChannelConfig', { stale: [...stale], done: 'Saved' })
  return (
    <Section title="Settings">
      <Card className="max-w-2xl">
        <Form<Record<string, string>>
          submit="Save"
          onSubmit={(values) => {
            const credentials = credentialsOf(channel.channel, values)
            return update.mutateAsync({
              config_id: channel.config_id,
              name: values.name || null,
              external_id: values.external_id ?? channel.external_id,
              ...(values.template_id && { template_id: values.template_id }),
              ...(Object.keys(credentials).length > 0 && { credentials }),
            })
          }}
        >
          <Field name="name" label="Name">
            <Input maxLength={200} defaultValue={channel.name ?? ''} />
          </Field>
          {templates.data && (
            <Field name="template_id" label="Answered by">
              <Select
                defaultValue={channel.template_id ?? ''}
                options={[
                  ...(channel.template_id === null ? [{ value: '', label: 'Choose a template' }] : []),
                  ...withPresent(
                    templates.data.map(({ template_id, name }) => ({ value: template_id, label: name })),
                    channel.template_id,
                    t('the current template'),
                  ),
                ]}
              />
            </Field>
          )}
          <Field name="external_id" label={vendor.external.label} hint={vendor.external.hint}>
            <Input required maxLength={500} defaultValue={channel.external_id} />
          </Field>
          <Credentials channel={channel.channel} stored={channel.credentials_set} />
        </Form>
      </Card>
    </Section>
  )
}
