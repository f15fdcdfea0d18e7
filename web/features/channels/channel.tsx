import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ChannelConfig } from '#sdk/types.generated'
import { useAll, useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Field, Form, Input, Select, Switch, withPresent } from '#web/ui/field.tsx'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { inSentence, t } from '#web/words/language.ts'
import { deletion, staleChannels, staleLists, useChannelSwitch } from './actions.ts'
import { Credentials, credentialsOf } from './credentials.tsx'
import { TestMessage } from './test-message.tsx'
import { Steps, vendors } from './vendors.tsx'

export function ChannelPage() {
  const { config_id } = useParams({ strict: false }) as { config_id: string }
  const channel = useApi('getChannelConfig', { config_id })
  return (
    <LoadedPage of={channel} what="the channel" title="Channel" crumbs={[{ label: 'Channels', to: '/channels' }]}>
      {(found) => <Found channel={found} />}
    </LoadedPage>
  )
}

function Found({ channel }: { channel: ChannelConfig }) {
  const navigate = useNavigate()
  const { canWrite } = useRole()
  const [asking, setAsking] = useState(false)
  const { config_id } = channel
  const vendor = vendors[channel.channel]
  const missing = vendor.credentials.filter(({ name }) => !channel.credentials_set.includes(name))
  const toggle = useChannelSwitch()
  const remove = useChange('deleteChannelConfig', { stale: staleLists, done: 'The channel was deleted' })
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
              readOnly={toggle.isPending}
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
      {channel.problem !== null && (
        <p role="status" className="mb-6 rounded-lg bg-danger-soft px-4 py-3 break-words text-danger">
          Problem with the last message: {channel.problem}
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
          <Change key={config_id} channel={channel} />
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
  const update = useChange('updateChannelConfig', { stale: staleChannels, done: 'Saved' })
  // A change elsewhere, such as the switch above, keeps what the user has typed. Only fields that the user changed are sent.
  const [loaded, setLoaded] = useState(channel)
  return (
    <Section title="Settings">
      <Card className="max-w-2xl">
        <Form<Record<string, string>>
          submit="Save"
          onSubmit={async (values) => {
            const credentials = credentialsOf(channel.channel, values)
            const fields = {
              name: values.name || null,
              external_id: values.external_id ?? loaded.external_id,
              template_id: values.template_id || loaded.template_id,
            }
            const changed = Object.entries(fields).filter(
              ([name, value]) => value !== loaded[name as keyof typeof fields],
            )
            const saved = await update.mutateAsync({
              config_id: channel.config_id,
              ...Object.fromEntries(changed),
              ...(Object.keys(credentials).length > 0 && { credentials }),
            })
            setLoaded(saved)
          }}
        >
          <Field name="name" label="Name">
            <Input maxLength={200} defaultValue={loaded.name ?? ''} />
          </Field>
          {templates.data && (
            <Field name="template_id" label="Answered by">
              <Select
                defaultValue={loaded.template_id ?? ''}
                options={[
                  ...(loaded.template_id === null ? [{ value: '', label: 'Choose a template' }] : []),
                  ...withPresent(
                    templates.data.map(({ template_id, name }) => ({ value: template_id, label: name })),
                    loaded.template_id,
                    t('the current template'),
                  ),
                ]}
              />
            </Field>
          )}
          <Field name="external_id" label={vendor.external.label} hint={vendor.external.hint}>
            <Input required maxLength={500} defaultValue={loaded.external_id} />
          </Field>
          <Credentials key={loaded.updated_at} channel={channel.channel} stored={channel.credentials_set} />
        </Form>
      </Card>
    </Section>
  )
}
