import { z } from 'zod'
import { defineList, flag } from '#platform/http/list'
import { id, jsonObject, timestamp, timestampIn } from '#platform/http/schema'

export const Schedule = z
  .object({
    workflow_id: id('wf'),
    cron: z.string(),
    timezone: z.string(),
    input: z.unknown(),
    next_run_at: timestamp().nullable(),
    last_run_at: timestamp().nullable(),
    last_execution_id: id('exe').nullable(),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.input<typeof Schedule>

const cron = () => z.string().min(1).max(200)
const timezone = () => z.string().max(100)

export const SchedulePut = z.strictObject({
  cron: cron(),
  timezone: timezone().default('UTC'),
  input: jsonObject().optional(),
})
export type SchedulePut = z.output<typeof SchedulePut>

const Overlap = z
  .enum(['allow', 'skip', 'queue', 'cancel'])
  .describe(
    'When the run before has not ended: start beside it, leave this time out, start after it has ended, or cancel it and start',
  )
const CatchUp = z
  .enum(['none', 'last', 'all'])
  .describe('Of times that passed while the service was down: none, only the newest, or all of the last seven days')

export const WorkflowSchedule = z
  .object({
    schedule_id: id('sch'),
    workflow_id: id('wf'),
    cron: z.string().nullable(),
    every_s: z.number().nullable(),
    at: timestamp().nullable(),
    timezone: z.string(),
    input: z.unknown(),
    overlap: Overlap,
    catch_up: CatchUp,
    enabled: z.boolean(),
    next_run_at: timestamp().nullable(),
    next_runs: z.array(timestamp()).describe('The next five times'),
    last_run_at: timestamp().nullable(),
    last_execution_id: id('exe').nullable(),
    last_error: z.string().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'WorkflowSchedule' })
export type WorkflowSchedule = z.input<typeof WorkflowSchedule>

export const scheduleList = defineList({
  id: 'schedule_id',
  search: ['cron', 'timezone'],
  sort: { created_at: 'time', next_run_at: 'time' },
  order: 'created_at',
  filters: { enabled: flag('Only those that are enabled, or only those that are not') },
})

const fields = {
  cron: cron().nullable().optional().describe('Five fields: minute, hour, day, month, weekday'),
  every_s: z
    .number()
    .min(60)
    .max(366 * 24 * 3600)
    .nullable()
    .optional()
    .describe('Interval in seconds, counted from when the schedule was made'),
  at: timestampIn().nullable().optional().describe('Once, then'),
  input: jsonObject().nullable().optional(),
}

export const NewSchedule = z.strictObject({
  ...fields,
  timezone: timezone().default('UTC'),
  overlap: Overlap.default('allow'),
  catch_up: CatchUp.default('last'),
  enabled: z.boolean().default(true),
})
export type NewSchedule = z.output<typeof NewSchedule>

export const SchedulePatch = z.strictObject({
  ...fields,
  timezone: timezone().optional(),
  overlap: Overlap.optional(),
  catch_up: CatchUp.optional(),
  enabled: z.boolean().optional(),
})
export type SchedulePatch = z.output<typeof SchedulePatch>

export const Backfill = z.strictObject({
  from: timestampIn().describe('The first moment'),
  to: timestampIn().describe('The first moment that no longer counts; not in the future'),
})
export type Backfill = z.output<typeof Backfill>
export const Backfilled = z
  .object({
    runs: z.array(z.object({ execution_id: id('exe'), scheduled_at: timestamp() })).describe('The oldest time first'),
  })
  .meta({ id: 'Backfilled' })
export type Backfilled = z.input<typeof Backfilled>
