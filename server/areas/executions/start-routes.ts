import { member } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import {
  Accepted,
  AcceptedOrEnded,
  BatchAccepted,
  RetryBody,
  RunBatchBody,
  RunBody,
  SystemRunBody,
  waitQuery,
} from './schema.ts'
import type { Executions } from './service.ts'

/** The routes that start and stop executions. */
export const startRoutes = (executions: Executions): AnyRoute[] =>
  routes(
    'Executions',
    {
      runWorkflow: ['POST', '/api/workflows/:workflow_id/run', member('workflow'), 'run'],
      runWorkflowBatch: ['POST', '/api/workflows/:workflow_id/run-batch', member('workflow'), 'run'],
      runSystemWorkflow: ['POST', '/api/workflows/system/:workflow_id/run', member('workspace'), 'run'],
      cancelExecution: ['POST', '/api/workflows/executions/:execution_id/cancel', member('execution'), 'run'],
      retryExecution: ['POST', '/api/workflows/executions/:execution_id/retry', member('execution'), 'run'],
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
      runWorkflowBatch: {
        summary: 'Run a workflow up to 1,000 times',
        description:
          'Every run is checked first; if one is not valid, none starts. Then each is accepted or refused separately, ' +
          'such as when the queue is full. A run that is sent again with the same `idempotency_key` is not started again; without ' +
          'separate keys, the runs share the `Idempotency-Key` of the request.',
        body: RunBatchBody,
        answer: BatchAccepted,
        status: 202,
        transaction: false,
        idempotency: 'own',
        extension: true,
        examples: {
          body: { runs: [{ input: { name: 'Ada' }, idempotency_key: 'order-1' }, { input: { name: 'Grace' } }] },
        },
        run: executions.runBatch,
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
      cancelExecution: {
        summary: 'Cancel an execution',
        answer: Accepted,
        status: 202,
        extension: true,
        run: executions.cancelExecution,
      },
      retryExecution: {
        summary:
          'Retry an execution from the start, the failed node or a chosen node, with the same or the active version',
        body: RetryBody,
        answer: Accepted,
        status: 202,
        transaction: false,
        idempotency: 'own',
        extension: true,
        run: executions.retryExecution,
      },
    },
  )
