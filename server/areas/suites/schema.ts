import { z } from 'zod'
import { RunError } from '#areas/jobs/schema'
import { anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, listQuery, name, reference, timestamp } from '#platform/http/schema'

/** `equal`: what the record expects is what the workflow gave, whole or in some fields. */
const Equal = z.strictObject({
  kind: z.literal('equal'),
  expected: z.unknown().describe('A value over `record`, such as {"$ref": "record.expected"}'),
  fields: z.array(z.string().min(1).max(256)).min(1).max(100).optional(),
})
const Cel = z.strictObject({
  kind: z.literal('cel'),
  expression: z.string().min(1).max(4096).describe('Over `record` and `results`; true passes'),
})
const Judge = z.strictObject({
  kind: z.literal('judge'),
  instructions: z.string().min(1).max(10_000),
  expected: z.unknown().optional(),
  model: z.string().max(200).optional(),
})
export const Check = z.discriminatedUnion('kind', [Equal, Cel, Judge])
export type Check = z.output<typeof Check>

export const Suite = z
  .object({
    suite_id: id('suite'),
    workflow_id: id('wf'),
    name: z.string(),
    dataset_id: id('ds').nullable(),
    mapping: jsonObject().nullable(),
    checks: z.array(jsonObject()),
    created_by: id('usr').nullable(),
    last_run_id: id('run').nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Suite' })
export type Suite = z.input<typeof Suite>

const settable = {
  dataset_id: reference('ds').nullable().optional(),
  mapping: jsonObject().nullable().optional(),
}
export const NewSuite = z
  .strictObject({ name: name(), checks: z.array(Check).min(1).max(20), ...settable })
  .meta({ id: 'NewSuite' })
export type NewSuite = z.output<typeof NewSuite>
export const SuitePatch = z
  .strictObject({ name: name().optional(), checks: z.array(Check).min(1).max(20).optional(), ...settable })
  .meta({ id: 'SuitePatch' })
export type SuitePatch = z.output<typeof SuitePatch>

export const RunSuite = z.strictObject({ version_id: reference('wfv').optional() })

const Outcome = z.enum(['passed', 'failed', 'error', 'unjudged'])

const run = {
  run_id: id('run'),
  suite_id: id('suite'),
  version_id: id('wfv'),
  status: z.enum(['running', 'succeeded', 'failed', 'cancelled']),
  total: z.number().int(),
  passed: z.number().int(),
  failed: z.number().int(),
  errors: z.number().int().describe('Records for which the workflow itself failed'),
  unjudged: z.number().int(),
  pass_rate: z.number().nullable().describe('Passed of all; null while it runs'),
  dataset_sha256: z.string().nullable(),
  error: RunError.nullable(),
  started_at: timestamp(),
  finished_at: timestamp().nullable(),
}
export const SuiteRun = z.object(run).meta({ id: 'SuiteRun' })
export type SuiteRun = z.input<typeof SuiteRun>

export const SuiteItem = z
  .object({
    position: z.number().int(),
    outcome: Outcome,
    execution_id: id('exe').nullable(),
    actual: z.unknown(),
    checks: z.array(
      z.looseObject({ kind: z.string(), passed: z.boolean().nullable(), message: z.string().optional() }),
    ),
  })
  .meta({ id: 'SuiteOutcome' })
export type SuiteItem = z.input<typeof SuiteItem>

const Change = z.object({ position: z.number().int(), before: Outcome, after: Outcome })

/** The report: the run, a page of its records, and how it differs from another run where one is named. */
export const SuiteReport = z
  .object({
    ...run,
    items: z.array(SuiteItem),
    next_cursor: z.string().nullable(),
    comparison: z
      .object({
        run_id: id('run'),
        version_id: id('wfv'),
        same_dataset: z.boolean(),
        pass_rate: z.number().nullable(),
        improved: z.number().int(),
        regressed: z.number().int(),
        changes: z.array(Change).describe('The first 200 records whose outcome differs'),
      })
      .nullable(),
  })
  .meta({ id: 'SuiteReport' })
export type SuiteReport = z.input<typeof SuiteReport>

export const ReportQuery = listQuery.extend({
  compare: reference('run').optional(),
  outcome: Outcome.optional(),
})

export const suiteList = defineList({
  id: 'suite_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
})

export const suiteRunList = defineList({
  id: 'run_id',
  created: 'started_at',
  sort: { created_at: 'id', pass_rate: 'number' },
  order: '-created_at',
  filters: { status: anyOf(run.status.options) },
})
