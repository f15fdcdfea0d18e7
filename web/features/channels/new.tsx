import { useNavigate, useSearch } from '@tanstack/react-router'
import { Bot, Lock } from 'lucide-react'
import { useAll, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Card, Page, Section } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { staleChannels } from './actions.ts'
import { Credentials, credentialsOf } from './credentials.tsx'
import { type ChannelName, channelNames, Steps, vendors } from './vendors.tsx'

export function NewChannelPage() {
  const { canWrite } = useRole()
  const { channel, template_id } = useSearch({ strict: false }) as { channel?: string; template_id?: string }
  const chosen = channelNames.find((name) => name === channel)
  return (
    <Page
      title={chosen ? `Connect ${vendors[chosen].title}` : 'Add channel'}
      crumbs={[{ label: 'Channels', to: '/channels' }]}
    >
      {!canWrite ? (
        <Empty icon={Lock} title="Viewers cannot add channels">
          Ask a member of the workspace.
        </Empty>
      ) : chosen ? (
        <Connect key={chosen} channel={chosen} templateId={template_id} />
      ) : (
        <ul className="grid gap-3 sm:grid-cols-2 md:grid-cols-3">
          {channelNames.map((name) => (
            <li key={name}>
              <ButtonLink
                to="/channels/new"
                search={{ channel: name, ...(template_id && { template_id }) }}
                className="h-full! w-full flex-col items-start! justify-start! px-4! py-3! whitespace-normal! text-left"
              >
                <span className="text-base">{vendors[name].title}</span>
                <span className="font-normal text-ink-2">{vendors[name].what}</span>
              </ButtonLink>
            </li>
          ))}
        </ul>
      )}
    </Page>
  )
}

function Connect({ channel, templateId }: { channel: ChannelName; templateId: string | undefined }) {
  const navigate = useNavigate()
  const vendor = vendors[channel]
  const templates = useAll('listTemplates', { limit: 200 })
  const put = useChange('putChannelConfig', {
    stale: staleChannels,
    onDone: ({ config_id }) => void navigate({ to: `/channels/${config_id}` }),
  })
  return (
    <Loaded of={templates} what="the templates">
      {(rows) =>
        rows.length === 0 ? (
          <Empty
            icon={Bot}
            title="A channel needs a template"
            action={
              <ButtonLink to="/templates/new" look="primary">
                Create a template
              </ButtonLink>
            }
          />
        ) : (
          <div className="grid gap-8 lg:grid-cols-2">
            <Section title="First, at the provider">
              <Steps steps={vendor.before} />
              <p className="mt-3 text-ink-2">The address to enter there is shown after you create the channel.</p>
            </Section>
            <Card>
              <Form<Record<string, string>>
                submit="Connect"
                onSubmit={(values) =>
                  put.mutateAsync({
                    channel,
                    external_id: values.external_id ?? '',
                    template_id: values.template_id ?? '',
                    name: values.name || null,
                    credentials: credentialsOf(channel, values),
                  })
                }
              >
                <Field name="name" label="Name">
                  <Input autoFocus maxLength={200} placeholder="Support" />
                </Field>
                <Field name="template_id" label="Answered by">
                  <Select
                    defaultValue={templateId ?? rows[0]?.template_id}
                    options={rows.map(({ template_id, name }) => ({ value: template_id, label: name }))}
                  />
                </Field>
                <Field name="external_id" label={vendor.external.label} hint={vendor.external.hint}>
                  <Input required maxLength={500} placeholder={vendor.external.placeholder} />
                </Field>
                <Credentials channel={channel} />
              </Form>
            </Card>
          </div>
        )
      }
    </Loaded>
  )
}
