import { z } from 'zod'
import { viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { listQuery, page, reference, timestampIn } from '#platform/http/schema'
import { IssuedTicket, socketOf } from '#platform/realtime/tickets'
import { bulkRoutes } from './bulk-routes.ts'
import { LogEntry, listExecutionLogs, logQuery } from './logs.ts'
import {
  Event,
  Execution,
  ExecutionNodeDetail,
  ExecutionSummary,
  eventsQuery,
  executionListQuery,
  Status,
  TriggerKind,
} from './schema.ts'
import type { Executions } from './service.ts'
import { startRoutes } from './start-routes.ts'

/** A comma-separated list of words. */
const several = <Word extends z.ZodType<unknown, string>>(word: Word) =>
  z
    .string()
    .max(200)
    .transform((text) => text.split(','))
    .pipe(z.array(word).min(1))

const flag = z.enum(['true', 'false']).transform((word) => word === 'true')

export const executionRoutes = (executions: Executions): AnyRoute[] => [
  ...startRoutes(executions),
  ...readRoutes(executions),
  ...bulkRoutes(),
]

const readRoutes = (executions: Executions): AnyRoute[] =>
  routes(
    'Executions',
    {
      listExecutions: ['GET', '/api/workflows/:workflow_id/executions', viewer('workflow')],
      getExecution: ['GET', '/api/workflows/executions/:execution_id', viewer('execution')],
      getExecutionNode: ['GET', '/api/workflows/executions/:execution_id/nodes/:path', viewer('execution')],
      listSystemExecutions: ['GET', '/api/workflows/system/:workflow_id/executions', viewer('workspace')],
      searchExecutions: ['GET', '/api/executions', viewer('workspace')],
      listExecutionEvents: ['GET', '/api/workflows/executions/:execution_id/events', viewer('execution')],
      listExecutionLogs: ['GET', '/api/workflows/executions/:execution_id/logs', viewer('execution')],
      createWorkflowTicket: ['POST', '/auth/workflow-ticket/:execution_id', viewer('execution'), 'read'],
      readExecutionBlob: ['GET', '/api/workflows/executions/:execution_id/blobs/:sha256', viewer('execution')],
    },
    {
      listExecutions: {
        summary: 'Executions of a workflow, newest first',
        description: 'Executions for records of jobs are left out, unless `include_jobs` asks for them.',
        query: executionListQuery.extend({
          include_jobs: flag.optional().describe('Also executions for records of jobs'),
          include_trials: flag.optional().describe('Also trial runs of drafts'),
        }),
        answer: page(ExecutionSummary),
        run: executions.listOfWorkflow,
      },
      getExecution: {
        summary: 'Status and results of an execution, with its nodes',
        answer: Execution,
        transaction: false,
        run: executions.getExecution,
      },
      getExecutionNode: {
        summary: 'The input of a node of an execution, and the outcome of each attempt',
        description:
          'The path is the id of the node; inside a map or loop `each[3].line`, which is kept while that item or turn is active, if it failed, and for the first 1,000. The items of a map and the turns of a loop are returned page by page; `item` shows the state of the nodes of one of them.',
        extension: true,
        query: listQuery.extend({
          item: z.coerce
            .number()
            .int()
            .min(0)
            .max(999_999_999)
            .optional()
            .describe('The item of a map or the turn of a loop whose `body` is shown, from 0'),
        }),
        answer: ExecutionNodeDetail,
        transaction: false,
        run: executions.getExecutionNode,
      },
      listSystemExecutions: {
        summary: "The caller's own executions of a system workflow",
        query: executionListQuery,
        answer: page(ExecutionSummary),
        run: executions.listOfSystem,
      },
      searchExecutions: {
        summary: 'Executions the caller may see, by status, workflow, time, trigger and content',
        description:
          'Executions for records of jobs and trials of drafts are left out, unless `trigger`, `include_jobs` or `include_trials` asks for them. ' +
          '`metadata.KEY=value` finds runs by their metadata, `input.PATH=value` by a field of their input, such as `input.order.id=7`. A page searches ' +
          'about 5,000 runs at most: if `next_cursor` is given, there are more to search.',
        query: executionListQuery
          .extend({
            q: z
              .string()
              .trim()
              .min(1)
              .max(200)
              .optional()
              .describe('Only runs whose input, results or error contains these words in this order, ignoring case'),
            error_code: z.string().min(1).max(100).optional().describe('Only runs that failed with this code'),
            node_id: z.string().min(1).max(200).optional().describe('Only runs that failed at this node'),
            tag: several(z.string().min(1).max(100))
              .optional()
              .describe('Only runs with this tag; with several, all of them'),
            version_id: reference('wfv').optional().describe('Only runs of this version'),
            status: several(Status).optional(),
            workflow_id: z.string().max(100).optional(),
            from: timestampIn().optional().describe('The same as `created_after`'),
            to: timestampIn().optional().describe('The same as `created_before`'),
            trigger: several(TriggerKind).optional().describe('The triggers, such as `user,schedule`'),
            include_jobs: flag.optional().describe('Also executions for records of jobs'),
            include_trials: flag.optional().describe('Also trial runs of drafts'),
          })
          .catchall(z.string().max(1000)),
        answer: page(ExecutionSummary),
        extension: true,
        run: executions.searchExecutions,
      },
      listExecutionEvents: {
        summary: 'The journal of an execution, oldest first',
        query: eventsQuery,
        answer: page(Event),
        transaction: false,
        extension: true,
        run: executions.listEvents,
      },
      listExecutionLogs: {
        summary: 'What the nodes of an execution wrote to its log, oldest first',
        description:
          'Contains `log(...)` and `console` in code, and the messages and reviews of agents. An execution keeps 1,000 lines and 512 KiB; if there were more, a last line says so.',
        query: logQuery,
        answer: page(LogEntry),
        extension: true,
        run: listExecutionLogs,
      },
      createWorkflowTicket: {
        summary: 'A ticket for the socket that shows the execution live; valid for 30 seconds and one connection',
        answer: IssuedTicket,
        status: 201,
        location: socketOf,
        run: executions.createTicket,
      },
      readExecutionBlob: {
        summary: 'An output that is too large to be included in the execution',
        produces: ['application/json'],
        examples: { answer: { rows: [] } },
        transaction: false,
        extension: true,
        run: executions.readBlob,
      },
    },
  )
