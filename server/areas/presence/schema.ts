import { z } from 'zod'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'

const status = z.enum(['online', 'away', 'busy', 'offline'])

const MAX_CONTEXT = 4096
const context = z
  .union([z.string(), jsonObject()])
  .refine((value) => JSON.stringify(value).length <= MAX_CONTEXT, `must be at most ${MAX_CONTEXT} characters of JSON`)

export const Presence = z
  .object({
    presence_id: id('prs'),
    workspace_id: id('ws'),
    user_id: id('usr'),
    status,
    context: z.union([z.string(), jsonObject()]).nullable(),
    last_seen_at: timestamp(),
    expires_at: timestamp(),
  })
  .meta({ id: 'Presence' })
export type Presence = z.input<typeof Presence>

export const Colleague = Presence.extend({ name: z.string() }).meta({ id: 'PresentColleague' })
export type Colleague = z.input<typeof Colleague>

export const RecordPresence = z.strictObject({
  status: status.default('online'),
  context: context.nullable().optional(),
  /** Nobody but oneself: another's is refused. */
  user_id: reference('usr').optional(),
})
