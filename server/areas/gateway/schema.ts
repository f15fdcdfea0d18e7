import { z } from 'zod'
import { anyOf, defineList, flag } from '#platform/http/list'
import { id, name, reference, timestamp } from '#platform/http/schema'
import { channelNames } from '#providers/channels/index'

export const ChannelConfig = z
  .object({
    config_id: id('chan'),
    channel: z.enum(channelNames),
    external_id: z.string(),
    /** Null after its template was deleted. The channel is disabled until it gets another template. */
    template_id: id('tmpl').nullable(),
    name: z.string().nullable(),
    enabled: z.boolean(),
    /** The names of the stored credentials. Their values are never shown. */
    credentials_set: z.array(z.string()),
    /** Why the vendor refused the last message. Null after a message was delivered or the config was changed. */
    problem: z.string().nullable(),
    /** The address to enter at the vendor. */
    inbound_url: z.string(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'ChannelConfig' })
export type ChannelConfig = z.input<typeof ChannelConfig>

const externalId = z.string().trim().min(1).max(500)
const secret = z.string().trim().min(1).max(4000)

export const NewChannelConfig = z.strictObject({
  channel: z.enum(channelNames),
  external_id: externalId,
  template_id: reference('tmpl'),
  name: name().nullable().optional(),
  /** By default, true as soon as every credential is set. */
  enabled: z.boolean().optional(),
  credentials: z.record(z.string().max(100), secret.nullable()).optional(),
})

export const ChannelConfigPatch = NewChannelConfig.omit({ channel: true })
  .partial()
  .extend({ template_id: reference('tmpl').nullable().optional() })

export const TestMessage = z.strictObject({
  to: z.string().trim().min(1).max(500).describe('The recipient, as the vendor identifies them'),
  text: z.string().trim().min(1).max(1000).default('A test message from Heddle.'),
})

/** The status is 200 even if sending failed. Then `problem` contains the reason. */
export const TestOutcome = z
  .object({ state: z.enum(['sent', 'failed']), problem: z.string().nullable() })
  .meta({ id: 'ChannelTestOutcome' })
export type TestOutcome = z.input<typeof TestOutcome>

export const channelList = defineList({
  id: 'config_id',
  search: ['name', 'external_id'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { channel: anyOf(channelNames), enabled: flag('Only those that are enabled, or only those that are not') },
})
