import { z } from 'zod'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, listQuery, reference, timestamp } from '#platform/http/schema'

const Decision = z.enum(['approve', 'reject', 'abstain'])

/** The id of a person is a TypeID; the id of an agent is the name from the policy. */
const Voter = z.object({ kind: z.enum(['human', 'agent']), id: z.string(), name: z.string() })

export const Vote = z
  .object({
    vote_id: id('vote'),
    voter: Voter,
    decision: Decision,
    comment: z.string().nullable(),
    rationale: z.string().nullable(),
    confidence: z.number().nullable(),
    evidence: z.unknown().optional(),
    payload_sha256: z.string(),
    voted_at: timestamp(),
  })
  .meta({ id: 'ApprovalVote' })
export type Vote = z.input<typeof Vote>

export const Approval = z
  .object({
    request_id: id('apr'),
    execution_id: id('exe'),
    workflow_id: id('wf').nullable(),
    version_id: id('wfv').nullable(),
    node_id: z.string(),
    node_path: z
      .string()
      .describe('Where in the execution the node is: `each[2].gate` inside a map, otherwise the same as node_id'),
    title: z.string(),
    payload: z.unknown(),
    payload_sha256: z.string(),
    policy: jsonObject(),
    status: z.enum(['open', 'approved', 'rejected', 'expired', 'cancelled']),
    outcome: z.enum(['approved', 'rejected']).nullable().describe('The outcome of the gate after it is closed'),
    votes: z.array(Vote),
    outstanding: z.array(Voter).describe('Who can still vote'),
    excluded: z
      .array(z.object({ user_id: id('usr'), name: z.string(), reason: z.string() }))
      .describe('Approvers who may not vote because they led to the execution (`allow_self: false`)'),
    unsatisfiable: z.boolean().describe('No remaining approver could approve it'),
    agents: z.array(
      z.object({ agent: z.string(), name: z.string(), votes: z.number().int(), agreed: z.number().int() }),
    ),
    started_by: id('usr').nullable().describe('Who started the execution; null if no person started it'),
    due_at: timestamp().nullable(),
    opened_at: timestamp(),
    resolved_at: timestamp().nullable(),
    editable: z.boolean().describe('The payload is a call of a tool; people who may vote can edit its arguments'),
    arguments_schema: jsonObject()
      .optional()
      .describe('The schema of the arguments that can be edited, without fixed arguments. Not included in lists'),
    edited_by: z
      .object({ user_id: id('usr'), name: z.string() })
      .nullable()
      .describe('Who edited the arguments; null if they are those of the agent'),
    edit_comment: z.string().nullable().describe('The comment of that person'),
    replaces: id('apr').nullable().describe('The gate about the call before it was edited'),
    replaced_by: id('apr').nullable().describe('The gate about the call as it was edited'),
  })
  .meta({ id: 'Approval' })
export type Approval = z.input<typeof Approval>

export const NewVote = z.strictObject({
  decision: Decision,
  comment: z.string().trim().max(10_000).nullable().optional(),
  payload_sha256: z.string().max(100),
})
export type NewVote = z.output<typeof NewVote>
export const EditedCall = z.strictObject({
  arguments: jsonObject().describe('All arguments of the call. Fixed arguments may be omitted, but not changed'),
  comment: z.string().trim().max(10_000).nullable().optional(),
  payload_sha256: z.string().max(100),
})
export type EditedCall = z.output<typeof EditedCall>
export const Delegation = z.strictObject({ user_id: reference('usr') })

export const Agreement = z
  .object({
    agent: z.string(),
    workflow_id: id('wf'),
    node_id: z.string(),
    votes: z.number().int(),
    agreed: z.number().int(),
  })
  .meta({ id: 'AgentAgreement' })

export const agreementQuery = listQuery.extend({ workflow_id: z.string().max(100).optional() })
export type AgreementQuery = z.output<typeof agreementQuery>

export const questionList = defineList({
  id: 'clarification_id',
  created: 'asked_at',
  search: ['question'],
  sort: { due_at: 'time', created_at: 'id' },
  order: 'due_at',
  filters: {
    execution_id: anyId('exe', 'Only questions of this execution'),
    workflow_id: anyId('wf', 'Only questions of this workflow'),
  },
})

export const Respond = z.strictObject({
  response: z.unknown().refine((value) => value !== undefined, 'is required'),
  clarification_id: reference('clr').optional(),
})
export const Responded = z
  .object({ clarification_id: id('clr'), execution_id: id('exe'), status: z.literal('answered') })
  .meta({ id: 'ClarificationAnswered' })

export const Question = z
  .object({
    clarification_id: id('clr'),
    execution_id: id('exe'),
    workflow_id: id('wf').nullable(),
    node_id: z.string(),
    node_path: z
      .string()
      .describe('Where in the execution the node is: `each[2].ask` inside a map, otherwise the same as node_id'),
    question: z.string(),
    schema: z.unknown(),
    status: z.enum(['open', 'answered', 'expired', 'cancelled']),
    asked_at: timestamp(),
    due_at: timestamp().nullable(),
  })
  .meta({ id: 'Clarification' })
export type Question = z.input<typeof Question>

export const KeptAnswer = z
  .object({
    clarification_id: id('clr').describe('The question that was answered first'),
    execution_id: id('exe'),
    workflow_id: id('wf').nullable(),
    node_id: z.string(),
    question: z.string(),
    answer: z.unknown().describe('The answer that later questions with the same key get'),
    answered_by: z.object({ id: z.string(), name: z.string() }).describe('Who gave it'),
    asked_at: timestamp(),
    answered_at: timestamp(),
    withdrawn_at: timestamp().nullable().describe('Since when questions no longer reuse it'),
    times_used: z.number().int().describe('How many later questions have reused it'),
  })
  .meta({ id: 'KeptAnswer' })
export type KeptAnswer = z.input<typeof KeptAnswer>

export const keptList = defineList({
  id: 'clarification_id',
  created: 'asked_at',
  search: ['question'],
  sort: { created_at: 'id' },
  order: '-created_at',
  filters: { workflow_id: anyId('wf', 'Only answers to questions of this workflow') },
})

const ofWorkflow = { workflow_id: anyId('wf', 'Only gates of this workflow') }

export const inboxList = defineList({
  id: 'request_id',
  created: 'opened_at',
  search: ['title'],
  sort: { due_at: 'time', created_at: 'id' },
  order: 'due_at',
  filters: ofWorkflow,
})

export const decidedList = defineList({
  id: 'request_id',
  created: 'opened_at',
  search: ['title'],
  sort: { created_at: 'id', resolved_at: 'time' },
  order: '-created_at',
  filters: { ...ofWorkflow, status: anyOf(['open', 'approved', 'rejected', 'expired', 'cancelled']) },
})

export const gateList = defineList({
  id: 'request_id',
  created: 'opened_at',
  search: ['title'],
  sort: { created_at: 'id', due_at: 'time' },
  order: 'created_at',
  filters: { status: anyOf(['open', 'approved', 'rejected', 'expired', 'cancelled']) },
})
