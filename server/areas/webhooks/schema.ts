import { z } from 'zod'
import { SimpleExecution, Status } from '#areas/executions/schema'
import { id } from '#platform/http/schema'

const Triggered = z
  .object({ execution_id: id('exe'), status: Status, status_url: z.string() })
  .meta({ id: 'WebhookAccepted' })
export const TriggeredOrEnded = z.union([SimpleExecution, Triggered])
