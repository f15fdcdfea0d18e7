import { z } from 'zod'
import { anyId, anyOf, defineList, flag } from '#platform/http/list'
import { id, name, reference, timestamp, timestampIn } from '#platform/http/schema'

export const MAX_RULES = 100
export const alertKinds = ['failure_rate', 'duration', 'queue_age', 'silence', 'budget'] as const
export type AlertKind = (typeof alertKinds)[number]

const WINDOW_STEP = 300

const kind = z
  .enum(alertKinds)
  .describe(
    '`failure_rate`: the share of runs that fail or time out, from 0 to 1. `duration`: p95 of how long runs take, in seconds. `queue_age`: how long the ' +
      'oldest run has waited in the queue, in seconds. `silence`: how long no run was started, in seconds. `budget`: the share of a budget that is spent',
  )
const threshold = z.number().positive().max(1e9).describe('The rule fires at this value and above')
const window_s = z
  .number()
  .int()
  .min(WINDOW_STEP)
  .max(24 * 3600)
  .multipleOf(WINDOW_STEP)
  .describe('For `failure_rate` and `duration`: the period that is measured, in steps of five minutes')
const min_runs = z
  .number()
  .int()
  .min(1)
  .max(1_000_000)
  .describe('For `failure_rate` and `duration`: with fewer runs the rule does not fire')
const people = z
  .array(reference('usr'))
  .max(50)
  .describe('Who gets a notification; people who may not see the workflow are skipped')
const channel = z
  .strictObject({
    config_id: reference('chan'),
    to: z.string().min(1).max(500).describe('The recipient, as the vendor identifies them'),
  })
  .nullable()
const mail = z.boolean().describe('The same people also get a mail')

export const NewAlertRule = z
  .strictObject({
    name: name(),
    kind,
    workflow_id: reference('wf').nullish().describe('Null: the whole workspace; only owners may do this'),
    threshold,
    window_s: window_s.default(900),
    min_runs: min_runs.default(5),
    people: people.optional(),
    mail: mail.default(false),
    channel: channel.default(null).describe('A message through this channel'),
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'NewAlertRule' })
export type NewAlertRule = z.output<typeof NewAlertRule>

export const AlertRulePatch = z
  .strictObject({
    name: name().optional(),
    threshold: threshold.optional(),
    window_s: window_s.optional(),
    min_runs: min_runs.optional(),
    people: people.optional(),
    mail: mail.optional(),
    channel: channel.optional().describe('A message through this channel; null: none'),
    enabled: z.boolean().optional(),
    silenced_until: timestampIn()
      .nullable()
      .optional()
      .describe('Nobody is notified before this time; null ends the silence'),
  })
  .meta({ id: 'AlertRulePatch' })
export type AlertRulePatch = z.output<typeof AlertRulePatch>

export const AlertRule = z
  .object({
    rule_id: id('alr'),
    name: z.string(),
    kind,
    workflow_id: id('wf').nullable(),
    threshold: z.number().describe('The rule fires at this value and above'),
    window_s: z.number().int().describe('The period that is measured'),
    min_runs: z.number().int().describe('With fewer runs the rule does not fire'),
    people: z.array(id('usr')).describe('Who is notified'),
    mail: z.boolean().describe('Whether they also get a mail'),
    channel: z
      .object({ config_id: id('chan'), to: z.string() })
      .nullable()
      .describe('The channel that also gets a message'),
    enabled: z.boolean(),
    silenced_until: timestamp().nullable().describe('Nobody is notified before this time'),
    state: z.enum(['ok', 'firing']).describe('The state at the last check'),
    since: timestamp().describe('Since when it has this state'),
    value: z.number().nullable().describe('The measured value; null if there was too little to measure'),
    checked_at: timestamp().nullable(),
    created_by: id('usr').nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'AlertRule' })
export type AlertRule = z.input<typeof AlertRule>

export const alertRuleList = defineList({
  id: 'rule_id',
  search: ['name'],
  sort: { created_at: 'id', name: 'text', since: 'time' },
  order: '-created_at',
  filters: {
    kind: anyOf(alertKinds),
    state: anyOf(['ok', 'firing']),
    workflow_id: anyId('wf', 'Only rules of this workflow'),
    enabled: flag('Only rules that are on, or off'),
  },
})
