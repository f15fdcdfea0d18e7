import { z } from 'zod'
import { givenShares, shownShares } from '#areas/teams/shares'
import { anyId, anyOf, defineList } from '#platform/http/list'
import {
  definition,
  definitionIn,
  email,
  id,
  jsonObject,
  listQuery,
  name,
  reference,
  timestamp,
} from '#platform/http/schema'

const jobStatuses = ['idle', 'due', 'running', 'paused', 'failed'] as const
const runStatuses = ['starting', 'running', 'writing', 'succeeded', 'failed', 'cancelled'] as const
const roles = ['owner', 'member', 'viewer'] as const
export const Role = z.enum(roles)
export type Role = z.output<typeof Role>
const TEAM_ROLES: ['member', 'viewer'] = ['member', 'viewer']

export const JobMember = z
  .object({ user_id: id('usr'), name: z.string(), email: z.string(), role: Role, added_at: timestamp() })
  .meta({ id: 'JobMember' })
export type JobMember = z.input<typeof JobMember>
export const RoleChange = z.strictObject({ role: Role })
export const NewJobInvitation = z.strictObject({ email: email(), role: Role.default('member') })

const Counts = z
  .object({
    pending: z.number().int(),
    running: z.number().int(),
    succeeded: z.number().int(),
    failed: z.number().int(),
    skipped: z.number().int().describe('Unchanged: an earlier run did them with the same input'),
    filtered: z.number().int().describe('Not selected by `only_if`'),
  })
  .meta({ id: 'LedgerCounts' })

export const RunError = z.looseObject({ code: z.string(), message: z.string() })

export const JobRun = z
  .object({
    run_id: id('run'),
    status: z.enum(runStatuses),
    full: z.boolean(),
    retry_failed: z.boolean().describe('It also tried records that an earlier run had failed'),
    sample: z.number().int().nullable().describe('At most this many records were tried, and no output was written'),
    total: z.number().int(),
    counts: Counts,
    failed_before: z
      .number()
      .int()
      .describe('Of those that failed: in an earlier run, and not tried again in this one'),
    usage: jsonObject().nullable().describe('What models counted for its records'),
    dataset_sha256: z.string().nullable(),
    version_id: id('wfv').nullable(),
    error: RunError.nullable(),
    started_at: timestamp(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'JobRun' })
export type JobRun = z.input<typeof JobRun>

const Retry = z
  .object({
    max_attempts: z.number().int(),
    backoff_s: z.number(),
    factor: z.number(),
    max_backoff_s: z.number(),
  })
  .meta({ id: 'JobRetry' })

const OutputMode = z.enum(['replace', 'upsert'])
const Output = z.object({
  new: z.string().optional(),
  dataset_id: id('ds').nullable().optional(),
  mode: OutputMode.describe('`upsert` keeps rows whose key this run did not read'),
})

export const Job = z
  .object({
    job_id: id('job'),
    name: z.string(),
    owner_id: id('usr'),
    workflow_id: id('wf').nullable(),
    definition: definition().nullable(),
    dataset_id: id('ds').nullable(),
    source_id: id('src').nullable(),
    mapping: jsonObject().nullable(),
    only_if: z.string().nullable(),
    output: Output.nullable(),
    schedule: z.object({ cron: z.string(), timezone: z.string() }).nullable(),
    concurrency: z.number().int(),
    stop_on_error_rate: z.number().nullable(),
    key: z.string().nullable().describe('The column that identifies a record'),
    retry: Retry,
    max_cost: z.number().nullable().describe('A run ends when its models cost this much'),
    max_tokens: z.number().nullable().describe('A run ends when its models used this many tokens'),
    members: z.array(z.object({ user_id: id('usr'), role: Role })),
    teams: shownShares(TEAM_ROLES),
    role: z
      .enum(['owner', 'editor', 'member', 'viewer'])
      .nullable()
      .describe('Of the caller; of a pinned job that in its workflow'),
    status: z.enum(jobStatuses),
    paused_reason: z.enum(['manual', 'connection_revoked', 'credential_unusable', 'workflow_deleted']).nullable(),
    due_at: timestamp().nullable(),
    last_run: JobRun.nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'EnrichmentJob' })
export type Job = z.input<typeof Job>

export const DEFAULT_CONCURRENCY = 64
export const DEFAULT_ERROR_RATE = 0.5

/** A CEL expression as plain text, or marked as in a definition. */
const condition = z
  .union([z.string().min(1).max(4096), z.strictObject({ $cel: z.string().min(1).max(4096) })])
  .transform((given) => (typeof given === 'string' ? given : given.$cel))

const settable = {
  workflow_id: reference('wf').nullable().optional(),
  definition: definitionIn().nullable().optional(),
  dataset_id: reference('ds').nullable().optional(),
  source_id: reference('src').nullable().optional(),
  mapping: jsonObject().nullable().optional(),
  only_if: condition.nullable().optional(),
  output: z
    .strictObject({
      new: name().optional(),
      dataset_id: reference('ds').nullable().optional(),
      mode: OutputMode.optional().describe('`replace` (default), or `upsert` by the `key` column of the job'),
    })
    .refine((output) => output.new !== undefined || output.dataset_id !== undefined, 'must have new or dataset_id')
    .nullable()
    .optional(),
  schedule: z
    .strictObject({ cron: z.string().min(1).max(200), timezone: z.string().max(100).default('UTC') })
    .nullable()
    .optional(),
  concurrency: z.number().int().min(1).max(256).nullable().optional(),
  stop_on_error_rate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .optional()
    .describe('Ends a run when more of at least 100 records that it tried for the first time failed; null: never'),
  key: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .optional()
    .describe(
      'The column that identifies a record. Records with the same input and different keys are different records',
    ),
  retry: z
    .strictObject({
      max_attempts: z.number().int().min(1).max(20).optional(),
      backoff_s: z.number().min(0).max(3_600).optional(),
      factor: z.number().min(1).max(10).optional(),
      max_backoff_s: z.number().min(0).max(86_400).optional(),
    })
    .nullable()
    .optional()
    .describe('How often an execution that fails is tried again within a run. Permanent failures are not'),
  max_cost: z
    .number()
    .positive()
    .max(1e9)
    .nullable()
    .optional()
    .describe('Ends a run whose models have cost this much, as far as their cost is known'),
  max_tokens: z
    .number()
    .int()
    .positive()
    .max(1e12)
    .nullable()
    .optional()
    .describe('Ends a run whose models used this many tokens'),
  teams: givenShares(TEAM_ROLES, 'member').nullable().optional(),
}

export const NewJob = z.strictObject({ name: name(), ...settable }).meta({ id: 'NewEnrichmentJob' })
export type NewJob = z.output<typeof NewJob>
export const JobPut = z.strictObject({ name: name().optional(), ...settable }).meta({ id: 'EnrichmentJobPut' })
export type JobPut = z.output<typeof JobPut>

export const RunNow = z
  .strictObject({
    full: z.boolean().default(false).describe('Every record again, also those that are unchanged'),
    sample: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Try only this many records, and write no output. A later run skips those that succeeded'),
  })
  .meta({ id: 'RunJobNow' })
export type RunNow = z.output<typeof RunNow>

const RecordStatus = z.enum(['pending', 'running', 'succeeded', 'failed', 'skipped', 'filtered'])
export type RecordStatus = z.output<typeof RecordStatus>
const ofRun = reference('run').optional().describe('The id of a run of the job; default: the newest run')
export const LedgerQuery = listQuery.extend({ status: RecordStatus.optional(), run_id: ofRun })
export const LedgerExportQuery = z.strictObject({
  status: z.enum(['failed', 'succeeded', 'skipped', 'filtered']).default('failed'),
  format: z.enum(['csv', 'jsonl']).default('jsonl'),
  run_id: ofRun,
})

export const LedgerItem = z
  .object({
    position: z.number().int().describe('Of the record in its dataset, from 0'),
    key: z.string().nullable().describe('The value of the key column of the job'),
    record_sha256: z.string(),
    record: jsonObject().nullable().describe('The record, if it failed; kept until it succeeds'),
    status: RecordStatus,
    attempt: z.number().int(),
    error: RunError.nullable(),
    execution_id: id('exe').nullable(),
    duration_ms: z.number().int().nullable(),
    usage: jsonObject().nullable().describe('What models counted for this record'),
    due_at: timestamp().nullable().describe('When it is tried again'),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'LedgerRecord' })
export type LedgerItem = z.input<typeof LedgerItem>

export const Ledger = z
  .object({
    run_id: id('run').nullable(),
    total: z.number().int(),
    counts: Counts,
    dataset_sha256: z.string().nullable(),
    items: z.array(LedgerItem).optional(),
    next_cursor: z.string().nullable().optional(),
  })
  .meta({ id: 'Ledger' })

export const jobList = defineList({
  id: 'job_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', due_at: 'time' },
  order: '-created_at',
  filters: {
    status: anyOf(jobStatuses),
    workflow_id: anyId('wf', 'Only jobs pinned to this workflow'),
    dataset_id: anyId('ds', 'Only jobs over this dataset'),
    owner_id: anyId('usr', 'Only jobs of this owner'),
  },
})

export const jobRunList = defineList({
  id: 'run_id',
  created: 'started_at',
  sort: { created_at: 'id', finished_at: 'time' },
  order: '-created_at',
  filters: { status: anyOf(runStatuses) },
})

export const jobMemberList = defineList({
  id: 'user_id',
  created: 'added_at',
  search: ['name', 'email'],
  sort: { user_id: 'id', created_at: 'time', name: 'text' },
  order: 'user_id',
  filters: { role: anyOf(roles) },
})
