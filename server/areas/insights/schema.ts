import { z } from 'zod'
import { id, reference, timestamp, timestampIn } from '#platform/http/schema'

const flag = z.enum(['true', 'false']).transform((word) => word === 'true')

export const usageGroups = ['workflow', 'model', 'person', 'day', 'credential'] as const
export type UsageGroup = (typeof usageGroups)[number]

export const usageQuery = z.strictObject({
  group_by: z.enum(usageGroups).default('day').describe('By what the calls are summed up'),
  from: timestampIn().optional().describe('The first day, in UTC; default: 30 days ago'),
  to: timestampIn().optional().describe('The last day, in UTC; default: today'),
  workflow_id: reference('wf').optional(),
})
export type UsageQuery = z.output<typeof usageQuery>

const counted = {
  calls: z.number().int(),
  unpriced_calls: z.number().int().describe('Calls whose cost is not known'),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost: z.number().describe('In US dollars, of the calls whose cost is known'),
}

const UsageItem = z.object({
  workflow_id: id('wf').nullish().describe('With `group_by=workflow`; null: asked by no workflow'),
  model: z.string().optional().describe('With `group_by=model`'),
  user_id: id('usr').nullish().describe('With `group_by=person`: who started the run or asked; null: no person did'),
  day: z.string().optional().describe('With `group_by=day`, in UTC'),
  credential_id: id('cred').nullish().describe("With `group_by=credential`; null: the installation's own model"),
  name: z.string().nullable().describe('The name of the workflow, person or credential, if it still exists'),
  ...counted,
})

export const UsageReport = z
  .object({
    from: z.string().describe('The first day, in UTC'),
    to: z.string().describe('The last day, in UTC'),
    group_by: z.enum(usageGroups).describe('By what the calls are summed up'),
    currency: z.string(),
    items: z.array(UsageItem).describe('The most expensive first, at most 1,000; days in chronological order'),
    total: z.object(counted).describe('The total for this period, including usage that is not among the items'),
  })
  .meta({ id: 'UsageReport' })
export type UsageReport = z.input<typeof UsageReport>

export const runGroups = ['workflow', 'trigger', 'error'] as const
export type RunGroup = (typeof runGroups)[number]
export const buckets = ['hour', 'day'] as const

export const runsQuery = z.strictObject({
  from: timestampIn().optional().describe('Default: 7 days ago. The whole hour or day that contains it is counted'),
  to: timestampIn().optional().describe('Default: now'),
  bucket: z
    .enum(buckets)
    .optional()
    .describe(
      'One item for each hour or day; days where neither this nor `group_by` is given. Hours of at most 35 days; 7 days for members who ask for all workflows',
    ),
  group_by: z.enum(runGroups).optional().describe('One item for each of them, and for each bucket where one is given'),
  workflow_id: reference('wf').optional(),
  include_jobs: flag.optional().describe('Also runs for records of jobs, which would crowd out all others'),
})
export type RunsQuery = z.output<typeof runsQuery>

const percentiles = () =>
  z
    .object({
      p50: z.number().describe('The median duration'),
      p95: z.number().describe('The 95th percentile of the duration'),
      p99: z.number().describe('The 99th percentile of the duration'),
    })
    .nullable()

const runFigures = {
  total: z.number().int(),
  succeeded: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  timed_out: z.number().int(),
  duration_ms: percentiles().describe(
    'From the first step to the end, with an error of at most 10 %; null if no run ended, and with `group_by` other than workflow',
  ),
  waiting_for_people_ms: percentiles().describe(
    'The time that runs waited for approvals and answers, with the same precision; runs without approvals and questions are not counted',
  ),
}

const RunItem = z.object({
  at: timestamp().nullable().describe('The start of the hour or day, in UTC; null without `bucket`'),
  workflow_id: id('wf').nullish().describe('With `group_by=workflow`; null: system workflows and jobs without one'),
  trigger: z.string().optional().describe('With `group_by=trigger`: what started the runs'),
  error_code: z.string().nullish().describe('With `group_by=error`: how they failed; null: they did not'),
  name: z.string().nullable().describe('Of the workflow, while there is one'),
  ...runFigures,
})

export const RunReport = z
  .object({
    from: timestamp(),
    to: timestamp(),
    bucket: z.enum(buckets).nullable(),
    group_by: z.enum(runGroups).nullable(),
    items: z.array(RunItem).describe('In the order of time, then the most runs first; at most 5,000'),
    total: z.object(runFigures).describe('Of everything in this time'),
  })
  .meta({ id: 'RunReport' })
export type RunReport = z.input<typeof RunReport>

export const stepsQuery = z.strictObject({
  from: timestampIn().optional().describe('Default: 7 days ago'),
  to: timestampIn().optional().describe('Default: now'),
  workflow_id: reference('wf').optional(),
  include_jobs: flag.optional().describe('Also steps of runs for records of jobs, which would crowd out all others'),
  sort: z.enum(['mean', 'total', 'max', 'failed']).default('mean').describe('The value to sort by, largest first'),
  limit: z.coerce.number().int().min(1).max(200).default(20),
})
export type StepsQuery = z.output<typeof stepsQuery>

export const StepReport = z
  .object({
    from: timestamp(),
    to: timestamp(),
    items: z.array(
      z.object({
        workflow_id: id('wf'),
        name: z.string().nullable().describe('Of the workflow, while there is one'),
        node_id: z.string(),
        type: z.string().describe('The type of the node'),
        runs: z.number().int().describe('How many runs came to it'),
        failed: z.number().int(),
        mean_ms: z.number().describe('How long it took on average, all attempts and waits included'),
        max_ms: z.number().describe('The longest duration'),
        total_ms: z.number().describe('The total duration in all runs'),
      }),
    ),
  })
  .meta({ id: 'StepReport' })
export type StepReport = z.input<typeof StepReport>

const MAX_PRICES = 1_000
const perMillion = () => z.number().min(0).max(1_000_000)
const Price = z.object({
  model: z.string().describe('`provider/model`, or the name of the model alone'),
  input: z.number().describe('For a million tokens of input'),
  output: z.number().describe('For a million tokens of output'),
})

export const NewPrices = z
  .strictObject({
    prices: z
      .array(
        z.strictObject({
          model: z.string().min(1).max(200).regex(/^\S+$/, 'must hold no space'),
          input: perMillion().describe('For a million tokens of input, in US dollars'),
          output: perMillion().describe('For a million tokens of output, in US dollars'),
        }),
      )
      .max(MAX_PRICES)
      .refine((all) => new Set(all.map(({ model }) => model)).size === all.length, 'names a model twice')
      .describe('Replaces all prices that were set before; an empty list restores the built-in prices'),
  })
  .meta({ id: 'NewModelPrices' })
export type NewPrices = z.output<typeof NewPrices>

export const Prices = z
  .object({
    currency: z.string(),
    prices: z.array(Price).describe('Prices set by operators; they take precedence'),
    shipped: z.array(Price).describe('Prices that came with the release'),
    shipped_as_of: z.string().describe('The day on which the shipped prices were taken'),
    updated_at: timestamp().nullable(),
  })
  .meta({ id: 'ModelPrices' })
export type Prices = z.input<typeof Prices>
