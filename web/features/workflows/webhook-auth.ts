import type { WebhookToken } from '#sdk/types.generated'
import type { InputOf } from '#web/api.ts'

// The ways to authenticate the caller of a webhook, as the console offers them.

export const authMethods: Record<string, { label: string; hint: string }> = {
  bearer: { label: 'Bearer token', hint: 'The caller sends the token as Authorization: Bearer.' },
  url: {
    label: 'Secret address',
    hint: 'The address contains the secret. For senders that accept only an address.',
  },
  basic: { label: 'Name and password', hint: 'The caller sends the name “heddle” and the password (HTTP Basic).' },
  github: { label: 'GitHub signature', hint: 'Enter the same secret in the settings of the repository.' },
  stripe: { label: 'Stripe signature', hint: 'Stripe shows the secret once it has the address.' },
  slack: { label: 'Slack signature', hint: 'The secret is the signing secret of the app.' },
  shopify: { label: 'Shopify signature', hint: 'The secret is that of the app or of the shop’s webhooks.' },
  standard: { label: 'Standard Webhooks', hint: 'Senders that follow the Standard Webhooks rules.' },
  custom: { label: 'Other signature', hint: 'An HMAC of the body in a header of the sender’s choice.' },
}

type NewAuth = NonNullable<InputOf<'createWebhookToken'>['auth']>

export const authMethodLabel = ({ kind, preset }: WebhookToken['auth']): string =>
  authMethods[kind === 'hmac' ? (preset ?? 'custom') : kind]?.label ?? kind

export const authOf = (proof: string, header: string | undefined): NewAuth =>
  (proof === 'bearer' || proof === 'url' || proof === 'basic'
    ? { kind: proof }
    : { kind: 'hmac', preset: proof, ...(proof === 'custom' && { header: header ?? '' }) }) as NewAuth
