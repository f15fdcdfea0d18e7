import { Field, Input } from '#web/ui/field.tsx'
import { type ChannelName, vendors } from './vendors.tsx'

export const Credentials = ({ channel, stored = [] }: { channel: ChannelName; stored?: string[] }) =>
  vendors[channel].credentials.map(({ name, label, hint }) => (
    <Field
      key={name}
      name={`credential_${name}`}
      label={label}
      hint={stored.includes(name) ? `${hint}. Stored; enter a new value to replace it.` : hint}
    >
      <Input type="password" autoComplete="off" placeholder={stored.includes(name) ? '••••••••' : ''} />
    </Field>
  ))

/** Returns the typed credentials; empty fields are left out, so their stored values stay. */
export const credentialsOf = (channel: ChannelName, values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    vendors[channel].credentials
      .map(({ name }) => [name, values[`credential_${name}`] ?? ''] as const)
      .filter(([, value]) => value !== ''),
  )
