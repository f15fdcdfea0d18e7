import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Mail } from '#providers/mail/index'
import { makeDiscord } from './discord.ts'
import { makeEmail } from './email.ts'
import type { Channel, ChannelName } from './index.ts'
import { makeSlack } from './slack.ts'
import { makeTelegram } from './telegram.ts'
import { makeWebhook } from './webhook.ts'
import { makeWhatsapp } from './whatsapp.ts'

export type Channels = Readonly<Record<ChannelName, Channel>>

/** `bases` contains the addresses of the vendors' APIs, from the settings of the installation. */
export const makeChannels = (options: {
  bases: { slack: string; telegram: string; whatsapp: string; discord: string }
  mail: Pick<Mail, 'send'>
  outgoing: Pick<Outgoing, 'request'>
}): Channels => ({
  slack: makeSlack({ base: options.bases.slack }),
  telegram: makeTelegram({ base: options.bases.telegram }),
  whatsapp: makeWhatsapp({ base: options.bases.whatsapp }),
  discord: makeDiscord({ base: options.bases.discord }),
  email: makeEmail(options),
  webhook: makeWebhook(options),
})
