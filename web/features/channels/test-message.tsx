import { useState } from 'react'
import type { ChannelConfig, ChannelTestOutcome } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { cx } from '#web/ui/cx.ts'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { vendors } from './vendors.tsx'

/** Sends a message to the user, to check the credentials. */
export function TestMessage({ channel }: { channel: ChannelConfig }) {
  const [outcome, setOutcome] = useState<ChannelTestOutcome | null>(null)
  const { to, title } = vendors[channel.channel]
  if (!channel.enabled) return null
  return (
    <Section title="Test message" description="Sent at once, so that you see whether it arrives.">
      <Card className="max-w-2xl">
        <Form<{ to: string; text: string }>
          submit="Send test message"
          look="secondary"
          onSubmit={async (values) => {
            setOutcome(null)
            setOutcome(await api.tryChannelConfig({ config_id: channel.config_id, ...values }))
          }}
        >
          <Field name="to" label={to.label}>
            <Input required maxLength={500} placeholder={to.placeholder} />
          </Field>
          <Field name="text" label="Text">
            <Input required maxLength={1000} defaultValue="A test message from Heddle." />
          </Field>
          {outcome && (
            <p
              role="status"
              className={cx(
                'rounded-md px-3 py-2 break-words',
                outcome.state === 'sent' ? 'bg-success-soft text-success' : 'bg-danger-soft text-danger',
              )}
            >
              {outcome.state === 'sent'
                ? `${title} accepted the message.`
                : `${title} did not accept the message: ${outcome.problem}`}
            </p>
          )}
        </Form>
      </Card>
    </Section>
  )
}
