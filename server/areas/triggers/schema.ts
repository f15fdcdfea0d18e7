import { z } from 'zod'
import { anyText, defineList, flag } from '#platform/http/list'
import { id, jsonObject, reference, timestamp } from '#platform/http/schema'

export const Trigger = z
  .object({
    trigger_id: id('trg'),
    workflow_id: id('wf'),
    service: z.string().describe('The service of the trigger'),
    trigger: z.string().describe('The trigger of the service'),
    kind: z
      .enum(['polling', 'webhook'])
      .describe('`polling`: the service is asked every few minutes; `webhook`: the vendor calls'),
    registered: z.boolean().describe('Of a webhook trigger: whether it is registered at the vendor'),
    args: jsonObject().describe('What it is asked with'),
    credential_id: id('cred').nullable(),
    every_s: z.int().describe('Seconds between two polls'),
    enabled: z.boolean().describe('Whether it starts the workflow; one that is off is not registered at the vendor'),
    next_poll_at: timestamp().describe('When it polls next'),
    last_polled_at: timestamp().nullable().describe('When it last got an answer, or took what the vendor sent'),
    last_execution_id: id('exe').nullable().describe('The last execution that it started'),
    last_error: z
      .string()
      .nullable()
      .describe('Why the last poll started nothing, or why the registration at the vendor could not be renewed'),
    expires_at: timestamp()
      .nullable()
      .describe('When the registration ends at the vendor; it is renewed before. Null: it stays'),
    created_at: timestamp(),
  })
  .meta({ id: 'ServiceTrigger' })
export type Trigger = z.input<typeof Trigger>

export const NewTrigger = z
  .strictObject({
    service: z.string().max(80).describe('The service of the trigger'),
    trigger: z.string().max(120).describe('A trigger of the service'),
    args: jsonObject().optional().describe('As `args_schema` of the trigger says'),
    credential_id: reference('cred').optional(),
    every_s: z.int().min(60).max(86_400).optional().describe('Seconds between two polls; default 300'),
  })
  .meta({ id: 'NewServiceTrigger' })
export type NewTrigger = z.output<typeof NewTrigger>

export const TriggerPatch = z
  .strictObject({
    enabled: z
      .boolean()
      .describe(
        '`false`: it starts nothing. `true`: it starts anew; events and items from the time between start nothing',
      ),
  })
  .meta({ id: 'ServiceTriggerPatch' })
export type TriggerPatch = z.output<typeof TriggerPatch>

export const triggerList = defineList({
  id: 'trigger_id',
  search: ['service', 'trigger'],
  sort: { created_at: 'id', next_poll_at: 'time', service: 'text' },
  order: '-created_at',
  filters: {
    kind: anyText('Only triggers of this kind: `polling` or `webhook`'),
    service: anyText('Only triggers of this service, or of several, separated by commas'),
    enabled: flag('Only those that are enabled, or only those that are not'),
  },
})
