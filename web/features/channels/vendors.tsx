import type { ChannelConfig } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'

// The fields and instructions of each vendor, in the order of the setup.

export type ChannelName = ChannelConfig['channel']

export type Vendor = {
  title: string
  what: string
  external: { label: string; hint: string; placeholder: string }
  credentials: { name: string; label: string; hint: string }[]
  /** The steps before the channel is created. */
  before: string[]
  /** The steps after the address of the channel is known. */
  after: string[]
  /** The recipient of a test message. */
  to: { label: string; placeholder: string }
}

export const vendors: Record<ChannelName, Vendor> = {
  slack: {
    title: 'Slack',
    what: 'Direct messages and mentions in a Slack workspace',
    external: { label: 'Team id', hint: 'Starts with T. You can also use your own name.', placeholder: 'T024BE7LD' },
    credentials: [
      { name: 'bot_token', label: 'Bot token', hint: 'OAuth & Permissions; begins with xoxb-' },
      { name: 'signing_secret', label: 'Signing secret', hint: 'Basic Information' },
    ],
    before: [
      'Create an app at api.slack.com/apps.',
      'Under OAuth & Permissions add the bot scopes chat:write, im:history and app_mentions:read, and install the app.',
      'Copy the bot token, and the signing secret from Basic Information, into the form.',
    ],
    after: [
      'Under Event Subscriptions enter the address below; Slack checks it at once.',
      'Subscribe to message.im and app_mention.',
      'Under Interactivity & Shortcuts enter the same address, so that the buttons of votes and questions work.',
    ],
    to: { label: 'Channel or person', placeholder: 'C024BE91L' },
  },
  telegram: {
    title: 'Telegram',
    what: 'Chats with a bot',
    external: { label: 'Name of the bot', hint: 'Without the @.', placeholder: 'acme_bot' },
    credentials: [
      { name: 'bot_token', label: 'Bot token', hint: 'From @BotFather' },
      { name: 'secret_token', label: 'Secret token', hint: 'Your choice: letters, digits, _ and -' },
    ],
    before: ['Create a bot with @BotFather and copy its token.', 'Choose a secret token.'],
    after: [
      t(
        'Tell Telegram the address below: call setWebhook of the bot with url, secret_token and allowed_updates=["message","callback_query"].',
      ),
    ],
    to: { label: 'Chat id', placeholder: '123456789' },
  },
  whatsapp: {
    title: 'WhatsApp',
    what: 'A business number',
    external: { label: 'Phone number id', hint: 'The id, not the phone number.', placeholder: '106540352242922' },
    credentials: [
      {
        name: 'access_token',
        label: 'Access token',
        hint: 'The token of a system user with the permission whatsapp_business_messaging',
      },
      { name: 'app_secret', label: 'App secret', hint: 'Settings, Basic' },
      { name: 'verify_token', label: 'Verify token', hint: 'Your choice' },
    ],
    before: [
      'Create an app with WhatsApp at developers.facebook.com.',
      'Copy the access token and the app secret, and choose a verify token.',
    ],
    after: ['Under WhatsApp, Configuration enter the address below and the verify token.', 'Subscribe to messages.'],
    to: { label: 'Phone number', placeholder: '4915112345678' },
  },
  discord: {
    title: 'Discord',
    what: 'A command in a server',
    external: { label: 'Application id', hint: 'General Information.', placeholder: '845027738276462632' },
    credentials: [
      { name: 'bot_token', label: 'Bot token', hint: 'Bot' },
      { name: 'public_key', label: 'Public key', hint: 'General Information' },
    ],
    before: [
      'Create an application at discord.com/developers and register a command with one text option, for example /ask text.',
      'Invite the bot with applications.commands and Send Messages.',
    ],
    after: ['Enter the address below as Interactions Endpoint URL; Discord checks it with a ping.'],
    to: { label: 'Channel id', placeholder: '41771983423143937' },
  },
  email: {
    title: 'E-mail',
    what: 'An address people write to',
    external: {
      label: 'Address',
      hint: 'Answers are sent with this Reply-To address.',
      placeholder: 'support@example.com',
    },
    credentials: [
      {
        name: 'inbound_secret',
        label: 'Inbound secret',
        hint: 'Your choice; your mail server sends it with each message',
      },
    ],
    before: ['Choose a secret that your mail server sends with each message.'],
    after: [
      'Let your mail server POST each message (message/rfc822) to the address below, with the secret in the header X-Inbound-Secret.',
    ],
    to: { label: 'E-mail address', placeholder: 'you@example.com' },
  },
  webhook: {
    title: 'Webhook',
    what: 'Your own system, with signed requests',
    external: {
      label: 'Address for replies',
      hint: 'Or any name, if you do not need replies.',
      placeholder: 'https://example.com/replies',
    },
    credentials: [{ name: 'signing_secret', label: 'Signing secret', hint: 'whsec_ and base64, or any text' }],
    before: ['Agree on a signing secret, as Standard Webhooks defines it.'],
    after: [t('POST {"sender_id", "conversation_id", "text"} to the address below, signed with the secret.')],
    to: { label: 'Sender id', placeholder: 'u1' },
  },
}

export const channelNames = Object.keys(vendors) as ChannelName[]

export const Steps = ({ steps }: { steps: string[] }) => (
  <ol className="flex list-decimal flex-col gap-1.5 pl-5 text-ink-2 marker:text-ink-3">
    {steps.map((step) => (
      <li key={step}>{step}</li>
    ))}
  </ol>
)
