import { z } from 'zod'
import { id, timestamp } from '#platform/http/schema'

export const MAX_KEEP_S = 24 * 3600

export const NewEvent = z
  .strictObject({
    key: z.string().min(1).max(200).optional().describe('Wakes every execution that waits for exactly this key'),
    name: z.string().min(1).max(200).optional().describe('Starts every workflow whose `settings.on_event` has it'),
    data: z.unknown().optional(),
    event_id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Your id of the event; the same id within a day changes nothing and gets the same response'),
    keep_s: z
      .number()
      .int()
      .min(0)
      .max(MAX_KEEP_S)
      .default(0)
      .describe('How long the event is kept for executions that start to wait later'),
  })
  .refine(({ key, name }) => key !== undefined || name !== undefined, {
    path: ['key'],
    message: 'key, name or both are required',
  })
export type NewEvent = z.output<typeof NewEvent>

export const EventTaken = z
  .object({
    event_id: id('evt'),
    woken: z.number().int().describe('Executions that continued'),
    unfit: z
      .number()
      .int()
      .describe('Executions that wait for the key, but with a schema that the data does not match'),
    started: z.array(id('exe')),
    not_started: z.array(z.object({ workflow_id: id('wf'), reason: z.string() })),
    kept_until: timestamp().nullable(),
    duplicate: z.boolean().describe('The event was already received; nothing was done'),
  })
  .meta({ id: 'EventTaken' })
export type EventTaken = z.input<typeof EventTaken>

export const CallbackTaken = z.object({ status: z.enum(['received', 'kept']) }).meta({ id: 'CallbackTaken' })
export type CallbackTaken = z.input<typeof CallbackTaken>
