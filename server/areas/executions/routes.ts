import { z } from 'zod'
import { member, viewer } from '#platform/access/words'
import { type AnyRoute, routes } from '#platform/http/route'
import { listQuery, page, timestampIn } from '#platform/http/schema'
import { IssuedTicket, socketOf } from '#platform/realtime/tickets'
import {
  Accepted,
  AcceptedOrEnded,
  Event,
  Execution,
  ExecutionSummary,
  eventsQuery,
  RetryBody,
  RunBody,
  Status,
  SystemRunBody,
  TriggerKind,
  waitQuery,
} from './schema.ts'
import type { Executions } from './service.ts'

/** Words of a list, with commas between them. */
const several = <Word extends z.ZodType<unknown, string>>(word: Word) =>
  z
    .string()
    .max(200)
    .transform((text) => text.split(','))
    .pipe(z.array(word).min(1))

const flag = z.enum(['true', 'false']).transform((word) => word === 'true')

export const executionRoutes = (executions: Executions): AnyRoute[] =>
  routes(
    'Executions',
    {
      runWorkflow: ['POST', '/api/workflows/:workflow_id/run', member('workflow'), 'run'],
      listExecutions: ['GET', '/api/workflows/:workflow_id/executions', viewer('workflow')],
      getExecution: ['GET', '/api/workflows/executions/:execution_id', viewer('execution')],
      runSystemWorkflow: ['POST', '/api/workflows/system/:workflow_id/run', member('workspace'), 'run'],
      listSystemExecutions: ['GET', '/api/workflows/system/:workflow_id/executions', viewer('workspace')],
      searchExecutions: ['GET', '/api/executions', viewer('workspace')],
      cancelExecution: ['POST', '/api/workflows/executions/:execution_id/cancel', member('execution'), 'run'],
      retryExecution: ['POST', '/api/workflows/executions/:execution_id/retry', member('execution'), 'run'],
      listExecutionEvents: ['GET', '/api/workflows/executions/:execution_id/events', viewer('execution')],
      createWorkflowTicket: ['POST', '/auth/workflow-ticket/:execution_id', viewer('execution'), 'read'],
      readExecutionBlob: ['GET', '/api/workflows/executions/:execution_id/blobs/:sha256', viewer('execution')],
    },
    {
      runWorkflow: {
        summary: 'Run a workflow: its active version unless version_id is given',
        description:
          'Answers 202 once the execution is durable. With `?wait_s=` it answers 200 and the whole execution if that ends in time.',
        query: waitQuery,
        body: RunBody,
        answer: AcceptedOrEnded,
        status: 202,
        alsoStatus: [200],
        transaction: false,
        idempotency: 'own',
        examples: { body: { input: { name: 'Ada' } } },
        run: executions.runWorkflow,
      },
      listExecutions: {
        summary: 'Recent executions, newest first',
        query: listQuery.extend({ include_trials: flag.optional().describe('Also drafts that somebody tried') }),
        answer: page(ExecutionSummary),
        run: executions.listOfWorkflow,
      },
      getExecution: {
        summary: 'Status and results of an execution, with its nodes',
        answer: Execution,
        transaction: false,
        run: executions.getExecution,
      },
      runSystemWorkflow: {
        summary: 'Run a system workflow',
        query: waitQuery,
        body: SystemRunBody,
        answer: AcceptedOrEnded,
        status: 202,
        alsoStatus: [200],
        transaction: false,
        idempotency: 'own',
        allowed: executions.findSystemWorkflow,
        run: executions.runSystemWorkflow,
      },
      listSystemExecutions: {
        summary: "The caller's own executions of a system workflow",
        query: listQuery,
        answer: page(ExecutionSummary),
        run: executions.listOfSystem,
      },
      searchExecutions: {
        summary: 'Executions the caller may see, by status, workflow, time and what began them',
        description:
          'Executions for records of jobs and trials of drafts are left out, unless `trigger`, `include_jobs` or `include_trials` asks for them.',
        query: listQuery.extend({
          status: several(Status).optional(),
          workflow_id: z.string().max(100).optional(),
          from: timestampIn().optional(),
          to: timestampIn().optional(),
          trigger: several(TriggerKind).optional().describe('What began them, such as `user,schedule`'),
          include_jobs: flag.optional().describe('Also executions for records of jobs'),
          include_trials: flag.optional().describe('Also drafts that somebody tried'),
        }),
        answer: page(ExecutionSummary),
        extension: true,
        run: executions.searchExecutions,
      },
      cancelExecution: {
        summary: 'Cancel an execution',
        answer: Accepted,
        status: 202,
        extension: true,
        run: executions.cancelExecution,
      },
      retryExecution: {
        summary: 'Start it again from the start, the failed node or a chosen one, on the same or the active version',
        body: RetryBody,
        answer: Accepted,
        status: 202,
        transaction: false,
        idempotency: 'own',
        extension: true,
        run: executions.retryExecution,
      },
      listExecutionEvents: {
        summary: 'The journal of an execution, oldest first',
        query: eventsQuery,
        answer: page(Event),
        transaction: false,
        extension: true,
        run: executions.listEvents,
      },
      createWorkflowTicket: {
        summary: 'A ticket for the socket that shows the execution live: 30 s, single use',
        answer: IssuedTicket,
        status: 201,
        location: socketOf,
        idempotency: 'none',
        run: executions.createTicket,
      },
      readExecutionBlob: {
        summary: 'An output too large to stand in the execution itself',
        produces: ['application/json'],
        transaction: false,
        extension: true,
        run: executions.readBlob,
      },
    },
  )
