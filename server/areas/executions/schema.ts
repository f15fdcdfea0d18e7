import { z } from 'zod'
import { id, jsonObject, jsonTimestamp, listQuery, reference, timestamp, timestampIn } from '#platform/http/schema'

export const TriggerKind = z.enum([
  'user',
  'webhook',
  'embed',
  'schedule',
  'job',
  'channel',
  'workflow',
  'event',
  'system',
  'trial',
])
export const Status = z.enum(['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'timed_out'])

const ExecutionError = z.looseObject({ code: z.string(), message: z.string() })
const WaitingFor = z.looseObject({
  kind: z
    .enum(['clarification', 'approval', 'event', 'timer', 'slot', 'execution', 'platform'])
    .describe(
      '`execution`: the end of the execution that a `subworkflow` node started. `platform`: the service itself has a problem (its database, its storage, its load) and retries automatically; also shown while the execution is `running`',
    ),
  error: z.string().optional().describe('With the kind `platform`: what is wrong, as text'),
  execution_id: z.string().optional().describe('With the kind `execution`: its id'),
  reason: z
    .string()
    .optional()
    .describe(
      'With the kind `slot`: `concurrency`, `debounce`, `rate` or `paused`, the setting that keeps it from starting. With the kind `timer`: `start_at`',
    ),
  since: jsonTimestamp(),
  until: jsonTimestamp().optional(),
})

export const ExecutionSummary = z
  .object({
    execution_id: id('exe'),
    workflow_id: id('wf').nullable().describe('The workflow, or the slug of a system workflow'),
    version_id: id('wfv').nullable(),
    status: Status,
    error: ExecutionError.nullable(),
    waiting_for: z.array(WaitingFor),
    trigger: z.object({ kind: TriggerKind, id: z.string().nullable() }),
    started_by: id('usr').nullable(),
    retry_of: id('exe').nullable(),
    trial: z
      .boolean()
      .describe(
        'A trial run of a draft: not in lists by default, and never in statistics, bills or event destinations',
      ),
    priority: z.number().int(),
    tags: z.array(z.string()),
    metadata: jsonObject(),
    scheduled_at: timestamp().nullable().describe('The time of the schedule that it runs for'),
    created_at: timestamp(),
    started_at: timestamp().nullable(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'ExecutionSummary' })
export type ExecutionSummary = z.input<typeof ExecutionSummary>

export const executionListQuery = listQuery.extend({
  sort: z
    .enum(['created_at', '-created_at'])
    .default('-created_at')
    .describe('The order: `-created_at` is the newest first'),
  created_after: timestampIn().optional().describe('Only entries created at this time or later'),
  created_before: timestampIn().optional().describe('Only entries created before this time'),
})
export type ExecutionListQuery = z.output<typeof executionListQuery>

const Initiator = z.object({
  kind: z.enum([
    'person',
    'webhook_token',
    'embed_token',
    'template',
    'channel',
    'schedule',
    'job',
    'suite',
    'execution',
    'error_workflow',
    'retry',
    'event',
    'service_account',
  ]),
  id: z.string().nullable(),
  user_id: id('usr').nullable().describe('The person who created the token, owns the job or started the execution'),
})

const Usage = z
  .object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cost: z.number().nullable().describe('In US dollars, for the calls whose cost is known; null if no cost is known'),
    calls: z.number().int(),
    unpriced_calls: z.number().int().describe('Calls whose cost is not known'),
  })
  .meta({ id: 'ModelUsage' })

const ExecutionNode = z.looseObject({
  node_id: z.string(),
  status: z.enum(['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped']),
  attempt: z.number().int(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  output: z.unknown().optional(),
  error: ExecutionError.optional(),
  port: z.string().optional().describe('The port on which it continued, if it is not `out`'),
  usage: Usage.optional().describe('The usage of language models; absent if it used none'),
})

export const Execution = ExecutionSummary.extend({
  input: z.unknown(),
  results: z.unknown(),
  nodes: z.array(ExecutionNode),
  usage: Usage.describe('What language models counted for it, sub-workflows not included'),
  initiated_by: z
    .array(Initiator)
    .describe('Who and what led to it, nearest first. A gate with `allow_self: false` lets none of these people vote'),
  principal_id: id('usr').nullable().describe('The person whose rights it uses: the one who activated the version'),
  parent_execution_id: id('exe').nullable(),
  seq: z.number().int().describe('The last event that this view includes; a socket resumes after it'),
}).meta({ id: 'Execution' })
export type Execution = z.input<typeof Execution>

const NodeAttempt = z.object({
  attempt: z.number().int(),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'skipped', 'pending']),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  output: z.unknown().optional(),
  error: ExecutionError.optional(),
  next_attempt_at: z.string().optional().describe('When the next attempt begins, after one that failed'),
  usage: z.unknown().optional().describe('What models counted'),
})

const NodeItem = z.object({
  index: z.number().int().describe('The position of the item, or the number of the turn, from 0'),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed']),
  output: z.unknown().describe('The output of the body; for a loop the state after the turn, as long as it is stored'),
  collected: z.unknown().optional().describe('What the loop collected after the turn'),
  error: ExecutionError.nullable(),
  usage: z.unknown().describe('What models counted'),
})

const BodyNode = ExecutionNode.pick({
  node_id: true,
  status: true,
  attempt: true,
  started_at: true,
  finished_at: true,
  error: true,
  port: true,
})

export const ExecutionNodeDetail = z
  .object({
    node_id: z.string(),
    type: z.string().describe('The type of the node'),
    status: z.enum(['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped']),
    input: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Its resolved arguments. Values whose names look like secrets are masked'),
    input_error: z.string().nullable().describe('Why `input` is absent'),
    attempts: z.array(NodeAttempt).describe('Each attempt, the first one first'),
    items: z.array(NodeItem).describe('The items of a map or the turns of a loop, a page of them'),
    next_cursor: z.string().nullable(),
    body: z
      .object({
        index: z.number().int().describe('The item or turn, from 0'),
        last: z.number().int().describe('The last item or turn that has begun'),
        nodes: z.array(BodyNode).describe('The status of each node of the body for it'),
      })
      .nullable()
      .describe('With `item`: the body of the map or loop for that item or turn. Null if it is not stored'),
  })
  .meta({ id: 'ExecutionNodeDetail' })
export type ExecutionNodeDetail = z.input<typeof ExecutionNodeDetail>

export const Accepted = z.object({ execution_id: id('exe'), status: Status }).meta({ id: 'ExecutionAccepted' })
/**
 * Status 202 while the execution is unfinished. Status 200 with the execution if `wait_s` was given and it ended in
 * time.
 */
export const AcceptedOrEnded = z.union([Execution, Accepted])

/** An execution as shown to webhook tokens and widgets, without its nodes. */
export const SimpleExecution = z
  .object({
    execution_id: id('exe'),
    status: Status,
    results: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    question: z.object({ clarification_id: z.string(), question: z.string(), schema: z.unknown() }).nullable(),
    started_at: timestamp().nullable(),
    finished_at: timestamp().nullable(),
  })
  .meta({ id: 'SimpleExecution' })
export type SimpleExecution = z.input<typeof SimpleExecution>

const tag = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^,\p{Cc}]+$/u, 'must not contain commas or control characters')

/** The start time, and the properties by which executions are searched and ordered. */
const runOptions = {
  start_at: timestampIn().optional().describe('When it starts; at once if this time has passed'),
  delay_s: z
    .number()
    .min(0)
    .max(366 * 24 * 3600)
    .optional()
    .describe('Seconds to wait before it starts. Cannot be combined with start_at'),
  priority: z
    .number()
    .int()
    .min(-10)
    .max(10)
    .optional()
    .describe(
      'One step equals an hour of waiting: priority 1 starts before executions of priority 0 that were requested up to an hour earlier',
    ),
  tags: z.array(tag).max(20).optional(),
  metadata: z
    .record(z.string().min(1).max(100), z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]))
    .refine((value) => Object.keys(value).length <= 50, 'must have at most 50 fields')
    .optional()
    .describe('Kept with the run and shown; texts, numbers and booleans'),
  concurrency_key: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Replaces the key of the concurrency setting, which the workflow must have'),
}

export const RunBody = z.strictObject({
  input: jsonObject().optional(),
  version_id: reference('wfv').optional(),
  ...runOptions,
})
export type RunOptions = Omit<z.output<typeof RunBody>, 'input' | 'version_id'>

const BatchRun = RunBody.extend({
  idempotency_key: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('A second request with the same key and the same run starts nothing'),
})
export const RunBatchBody = z.strictObject({ runs: z.array(BatchRun).min(1).max(1000) })
export type BatchRun = z.output<typeof BatchRun>
export const BatchAccepted = z
  .object({
    runs: z
      .array(
        z.object({
          execution_id: id('exe').nullable(),
          status: Status.nullable(),
          error: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why it was not started'),
        }),
      )
      .describe('In the order of the request'),
    started: z.number().int(),
    refused: z.number().int(),
  })
  .meta({ id: 'BatchAccepted' })
export type BatchAccepted = z.input<typeof BatchAccepted>

export type RunBody = z.output<typeof RunBody>
export const SystemRunBody = z.strictObject({ input: jsonObject().optional() })
export const waitQuery = z.strictObject({ wait_s: z.coerce.number().min(0).max(60).default(0) })

export const RetryBody = z.strictObject({
  from: z.string().max(200).default('start').describe('`start`, `failed`, or the id of a node'),
  version: z.enum(['same', 'active']).default('same'),
})

export const Event = z
  .object({ seq: z.number().int(), type: z.string(), at: timestamp(), data: jsonObject() })
  .meta({ id: 'ExecutionEvent' })
export const eventsQuery = z.strictObject({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(1000).optional(),
})
