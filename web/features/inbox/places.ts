import type { Conversation } from '#sdk/types.generated'

const channels: Record<string, string> = {
  slack: 'Slack',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
  discord: 'Discord',
  email: 'E-mail',
  webhook: 'Webhook',
}

export const placeOf = ({ kind, channel }: Pick<Conversation, 'kind' | 'channel'>): string => {
  if (kind === 'channel') return channels[channel ?? ''] ?? 'A channel'
  return kind === 'gather' ? 'Workflow widget' : 'Chat widget'
}
