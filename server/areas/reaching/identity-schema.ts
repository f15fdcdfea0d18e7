import { z } from 'zod'
import { defineList } from '#platform/http/list'
import { id, reference, timestamp } from '#platform/http/schema'

export const reachableChannels = ['slack', 'telegram', 'discord'] as const

export const LINK_TEXT = /^\s*(?:\/start\s+|\/?link\s+)?heddle-([a-z0-9]{12})\s*$/i

export const ChannelIdentity = z
  .object({
    identity_id: id('chid'),
    config_id: id('chan').describe('The channel of the workspace'),
    channel: z.enum(reachableChannels).describe('The vendor'),
    channel_name: z.string().nullable().describe('What the workspace calls the channel'),
    sender_name: z.string().describe('The account, as the vendor names it'),
    created_at: timestamp(),
  })
  .meta({ id: 'ChannelIdentity' })
export type ChannelIdentity = z.input<typeof ChannelIdentity>

export const NewLink = z.strictObject({
  config_id: reference('chan').describe('A channel of Slack, Telegram or Discord'),
})

export const LinkCode = z
  .object({
    text: z.string().describe('Write this to the channel, directly and from your own account'),
    expires_in_s: z.int().describe('How long it works; it works once'),
  })
  .meta({ id: 'ChannelLinkCode' })

export const identityList = defineList({
  id: 'identity_id',
  search: ['sender_name', 'channel_name'],
  sort: { created_at: 'id', sender_name: 'text' },
  order: '-created_at',
})

export const ReachableChannels = z
  .object({
    channels: z
      .array(z.object({ config_id: id('chan'), channel: z.enum(reachableChannels), name: z.string().nullable() }))
      .describe('Channels of the workspace that can be linked'),
  })
  .meta({ id: 'ReachableChannels' })
