import { z } from 'zod'
import { SimpleExecution, Status } from '#areas/executions/schema'
import { anyId, anyText, defineList } from '#platform/http/list'
import { id } from '#platform/http/schema'

const Triggered = z
  .object({ execution_id: id('exe'), status: Status, status_url: z.string() })
  .meta({ id: 'WebhookAccepted' })
/** The response of an inbound address with `respond: accepted`. */
export const Received = z.object({ execution_id: id('exe'), status: Status }).meta({ id: 'WebhookReceived' })
export const TriggeredOrEnded = z.union([SimpleExecution, Triggered])

export const webhookDeliveryList = defineList({
  id: 'delivery_id',
  created: 'received_at',
  search: ['reason', 'content_type'],
  sort: { created_at: 'id' },
  order: '-created_at',
  idsByTime: true,
  filters: {
    code: anyText('Only calls refused with this code, or with one of several, separated by commas'),
    execution_id: anyId('exe', 'Only calls that started this execution'),
  },
})
