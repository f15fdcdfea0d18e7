import { z } from 'zod'
import { TriggerKind } from '#areas/executions/schema'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, listQuery, reference, timestamp, timestampIn } from '#platform/http/schema'

export const MAX_RUNS = 1_000

const ENDED = z.enum(['succeeded', 'failed', 'timed_out', 'cancelled'])

const filter = z
  .strictObject({
    status: z.array(ENDED).min(1).max(4).optional(),
    trigger: z.array(TriggerKind).min(1).max(20).optional(),
    version_id: reference('wfv').optional(),
    from: timestampIn().optional(),
    to: timestampIn().optional(),
  })
  .describe('Which past runs: ended ones of the workflow, newest first. Trials and runs of suites are left out')
export type ReplayFilter = z.output<typeof filter>

export const NewReplay = z
  .strictObject({
    filter: filter.optional(),
    execution_ids: z
      .array(reference('exe'))
      .min(1)
      .max(MAX_RUNS)
      .optional()
      .describe('These runs, instead of a filter'),
    limit: z.number().int().min(1).max(MAX_RUNS).default(100),
  })
  .meta({ id: 'NewReplay' })
export type NewReplay = z.output<typeof NewReplay>

const Outcome = z.enum(['same', 'different', 'unreplayable'])
const sides = (what: string) =>
  z
    .object({
      original: jsonObject().describe('Of the past runs'),
      candidate: jsonObject().describe('Of the candidate'),
    })
    .describe(what)

const replay = {
  replay_id: id('rpl'),
  workflow_id: id('wf'),
  version_id: id('wfv').describe('The candidate'),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  limit: z.number().int(),
  total: z.number().int(),
  done: z.number().int().describe('How many of them are done'),
  same: z.number().int().describe('Runs that would have ended the same'),
  different: z.number().int().describe('Runs whose result or path would be different'),
  unreplayable: z.number().int().describe('Runs that cannot be replayed'),
  mocked: z.number().int().describe('Runs in which something was mocked because the record did not answer it'),
  usage: sides('What models counted: in the past runs, and in what the candidate took from their record'),
  duration_ms: z
    .object({ original: z.number().describe('Of the past runs'), candidate: z.number().describe('Of the candidate') })
    .describe('How long the runs took, waits included, and how long the candidate would have taken'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  requested_by: id('usr').nullable().describe('Who requested it'),
  created_at: timestamp(),
  started_at: timestamp().nullable(),
  finished_at: timestamp().nullable(),
}
export const Replay = z.object(replay).meta({ id: 'Replay' })
export type Replay = z.input<typeof Replay>

const Change = z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() })
const text = z.string().nullable()
const Made = z.object({
  node_id: z.string(),
  type: z.string(),
  before: jsonObject().nullable().describe('Its arguments in the past run; null if it did not happen'),
  after: jsonObject().nullable().describe('Its arguments in the replay; null if it would not happen'),
})
const Difference = z.object({
  status: z.object({ before: text, after: text }).nullable(),
  error: z.object({ before: jsonObject().nullable(), after: jsonObject().nullable() }).nullable(),
  results: z.array(Change),
  path: z
    .array(z.object({ node_id: z.string(), before: text, after: text }))
    .describe('Nodes that would end otherwise, or by another way'),
  sent: z.array(Made).describe('Requests and messages that would be sent otherwise, not at all, or in addition'),
  asked: z.array(Made).describe('Gates and questions that would open otherwise, not at all, or in addition'),
  unanswered: z.array(z.string()).describe('Nodes at which it would wait, because the past run did not ask this'),
})

export const ReplayResult = z
  .object({
    position: z.number().int(),
    execution_id: id('exe'),
    outcome: Outcome,
    reason: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why a run cannot be replayed'),
    difference: Difference.nullable().describe('What is different'),
    mocked: z
      .array(z.object({ node_id: z.string(), type: z.string(), reason: z.enum(['arguments_differ', 'not_recorded']) }))
      .describe('Effects that the record did not answer'),
  })
  .meta({ id: 'ReplayResult' })
export type ReplayResult = z.input<typeof ReplayResult>

export const ReplayReport = z
  .object({ ...replay, items: z.array(ReplayResult), next_cursor: z.string().nullable() })
  .meta({ id: 'ReplayReport' })
export type ReplayReport = z.input<typeof ReplayReport>

export const replayList = defineList({
  id: 'replay_id',
  sort: { created_at: 'id' },
  order: '-created_at',
  filters: {
    status: anyOf(replay.status.options),
    version_id: anyId('wfv', 'Only replays of this version, or of several, separated by commas'),
  },
})

export const reportQuery = listQuery.extend({ outcome: Outcome.optional() })
