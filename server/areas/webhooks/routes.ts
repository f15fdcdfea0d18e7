import { SimpleExecution, waitQuery } from '#areas/executions/schema'
import { token } from '#platform/access/words'
import { type AnyRoute, routes } from '#platform/http/route'
import { TriggeredOrEnded } from './schema.ts'
import type { Webhooks } from './service.ts'

export const webhookRoutes = (webhooks: Webhooks): AnyRoute[] =>
  routes(
    'Webhooks',
    {
      triggerWebhook: ['POST', '/api/webhooks/workflow/:workflow_id/trigger', token('webhook')],
      getWebhookExecution: ['GET', '/api/webhooks/workflow/:workflow_id/executions/:execution_id', token('webhook')],
    },
    {
      triggerWebhook: {
        summary: 'Start the workflow with the body as its input',
        description:
          'A JSON object is the input as it is; other content arrives as `{body, content_type}`. Answers 202 once the execution is durable, or with `?wait_s=` 200 and its simplified status if it ends in time.',
        query: waitQuery,
        bodyKind: 'any',
        answer: TriggeredOrEnded,
        status: 202,
        alsoStatus: [200],
        transaction: false,
        idempotency: 'own',
        examples: {
          answer: {
            execution_id: 'exe_01kf3v6h2he3wtpk1fw5c0wz9d',
            status: 'queued',
            status_url: 'https://heddle.example/api/webhooks/workflow/…/executions/…',
          },
        },
        run: webhooks.trigger,
      },
      getWebhookExecution: {
        summary: 'Status of an execution that this token started',
        answer: SimpleExecution,
        transaction: false,
        run: webhooks.status,
      },
    },
  )
