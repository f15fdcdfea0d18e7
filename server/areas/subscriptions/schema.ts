import { z } from 'zod'
import { anyId, anyText, defineList } from '#platform/http/list'
import { id, jsonObject, name, timestamp, timestampIn } from '#platform/http/schema'

const status = z.enum(['active', 'paused', 'ended'])
const quantity = z.int().min(0).max(2_147_483_647)

export const Subscription = z
  .object({
    subscription_id: id('sub'),
    workspace_id: id('ws'),
    name: z.string(),
    status,
    quantity: z.int(),
    starts_at: timestamp(),
    ends_at: timestamp().nullable(),
    metadata: jsonObject(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Subscription' })
export type Subscription = z.input<typeof Subscription>

export const ListedSubscription = Subscription.extend({
  workspace_name: z.string().optional().describe('Shown to operators, who may not be in the workspace'),
}).meta({ id: 'ListedSubscription' })
export type ListedSubscription = z.input<typeof ListedSubscription>

export const NewSubscription = z.strictObject({
  name: name(),
  status: status.default('active'),
  quantity: quantity.default(1),
  starts_at: timestampIn().optional(),
  ends_at: timestampIn().nullable().optional(),
  metadata: jsonObject().optional(),
})

export const SubscriptionPatch = z.strictObject({
  name: name().optional(),
  status: status.optional(),
  quantity: quantity.optional(),
  starts_at: timestampIn().optional(),
  ends_at: timestampIn().nullable().optional(),
  metadata: jsonObject().nullable().optional(),
})

export const subscriptionList = defineList({
  id: 'subscription_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', starts_at: 'time', ends_at: 'time' },
  order: '-created_at',
  filters: {
    workspace_id: anyId('ws', 'Only subscriptions of this workspace'),
    status: anyText('Only those with this status, or one of several, separated by commas'),
  },
})
