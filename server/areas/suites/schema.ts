import { z } from 'zod'
import { RunError } from '#areas/jobs/schema'
import { effectModes } from '#model/node-access'
import { anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, listQuery, name, reference, timestamp } from '#platform/http/schema'

/** The result of the workflow must equal what the record expects, as a whole or in some fields. */
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

const Effects = z.enum(effectModes)
const Models = z.enum(['live', 'mock'])

export const RunSuite = z
  .strictObject({
    version_id: reference('wfv').optional(),
    effects: Effects.default('mock').describe(
      '`mock`: nothing is sent; nodes that act give what the suite recorded, else a value made from the output schema. `pinned`: likewise, and a case fails where nothing is recorded. `live`: nodes act, and what they were answered is recorded for later runs',
    ),
    models: Models.default('mock').describe(
      '`live`: language models are asked although other effects are not. With `effects` `live` they are asked anyway',
    ),
  })
  .meta({ id: 'RunSuite' })
export type RunSuite = z.output<typeof RunSuite>

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
  effects: Effects.describe('How nodes that act were treated'),
  models: Models.describe('Whether language models were asked'),
  score: z.number().nullable().describe('The mean of the cases’ scores; null while it runs'),
  usage: jsonObject().describe(
    'What language models counted and cost in this run: `input_tokens`, `output_tokens`, `cost`',
  ),
  recorded_usage: jsonObject().describe('What they counted and cost when the answers used here were recorded'),
  duration_ms: z
    .object({
      p50: z.number().nullable().describe('The median'),
      p95: z.number().nullable().describe('95 of 100 were faster'),
    })
    .describe('How long the cases took'),
  dataset_sha256: z.string().nullable(),
  error: RunError.nullable(),
  started_at: timestamp(),
  finished_at: timestamp().nullable(),
}
export const SuiteRun = z.object(run).meta({ id: 'SuiteRun' })
export type SuiteRun = z.input<typeof SuiteRun>

const outcome = {
  outcome: Outcome,
  score: z
    .number()
    .nullable()
    .describe('The share of its checks that passed, from 0 to 1; null where none could be judged'),
  execution_id: id('exe').nullable(),
  actual: z.unknown(),
  checks: z.array(z.looseObject({ kind: z.string(), passed: z.boolean().nullable(), message: z.string().optional() })),
  duration_ms: z.number().nullable().describe('How long its execution took'),
  usage: jsonObject().describe('What language models counted and cost'),
  recorded: z
    .object({
      answers: z.number().int().describe('How many nodes were answered from the record'),
      usage: jsonObject().describe('What models counted and cost when that was recorded'),
      duration_ms: z.number().describe('How long these nodes took then'),
    })
    .nullable()
    .describe('What came from the record; null in a live run'),
  mocked: z
    .array(z.object({ node_id: z.string(), type: z.string(), reason: z.enum(['arguments_differ', 'not_recorded']) }))
    .describe('Nodes that act and that the record did not answer'),
}

/** A suite in the list of all suites, with what a list shows of its workflow and of its newest run. */
export const ListedSuite = Suite.extend({
  workflow_name: z.string(),
  role: z.enum(['owner', 'editor', 'member', 'viewer']).describe('The role of the caller in the workflow'),
  last_run: z
    .object({ run_id: run.run_id, status: run.status, total: run.total, passed: run.passed, pass_rate: run.pass_rate })
    .nullable()
    .describe('The newest run; null if there is none'),
}).meta({ id: 'ListedSuite' })
export type ListedSuite = z.input<typeof ListedSuite>

export const SuiteItem = z.object({ position: z.number().int(), ...outcome }).meta({ id: 'SuiteOutcome' })
export type SuiteItem = z.input<typeof SuiteItem>

const Change = z.object({
  position: z.number().int(),
  before: Outcome,
  after: Outcome,
  regressed: z.boolean().describe('It passed before and does not pass now'),
  score_before: z.number().nullable().describe('Its score in the other run'),
  score_after: z.number().nullable().describe('Its score in this run'),
  case_url: z.string().describe('The case with both runs side by side, in the console'),
})

const Side = z.object({ run_id: id('run'), version_id: id('wfv').nullable(), ...outcome })

/** One case of a run, with the same case of another run. */
export const SuiteCase = z
  .object({
    suite_id: id('suite'),
    position: z.number().int(),
    run: Side.describe('The case in this run'),
    compared: Side.nullable().describe('The same case in the run that `compare` names'),
    changes: z
      .array(z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
      .describe('Places at which the output differs from that of `compare`'),
  })
  .meta({ id: 'SuiteCase' })
export type SuiteCase = z.input<typeof SuiteCase>

export const CaseQuery = z.object({ compare: reference('run').optional() })

/** The report: the run, a page of its records, and the comparison with another run if requested. */
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
        score: z.number().nullable().describe('The mean of the cases’ scores in that run'),
        effects: Effects.describe('How nodes that act were treated in that run'),
        usage: jsonObject().describe('What language models counted and cost in that run'),
        recorded_usage: jsonObject().describe('What they counted and cost when its answers were recorded'),
        duration_ms: run.duration_ms,
        improved: z.number().int(),
        regressed: z.number().int(),
        changes: z.array(Change).describe('The first 200 records whose outcome differs, regressions first'),
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

export const allSuiteList = defineList({ ...suiteList, search: ['name', 'workflow_name'] })

export const suiteRunList = defineList({
  id: 'run_id',
  created: 'started_at',
  sort: { created_at: 'id', pass_rate: 'number' },
  order: '-created_at',
  filters: { status: anyOf(run.status.options) },
})
