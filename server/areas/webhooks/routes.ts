import { z } from 'zod'
import { SimpleExecution, waitQuery } from '#areas/executions/schema'
import { member, token } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { listWebhookDeliveries, WebhookDelivery } from './deliveries.ts'
import { type InboundCall, type InboundParts, receiveWebhook } from './inbound.ts'
import { Received, TriggeredOrEnded, webhookDeliveryList } from './schema.ts'
import type { Webhooks } from './service.ts'

/** Senders add their own parameters, which are all accepted. */
const anyQuery = z.looseObject({})

const received = (method: string) => ({
  summary: `The address at which a sender calls a webhook token by ${method}`,
  description:
    'The last part of the path is the secret of a `url` token, or the id of a `basic` or `hmac` token. A signature is verified over the body as it came. Answers 202 with `{execution_id, status}` once the execution is durable, unless `respond` of the token says otherwise.',
  alsoRefuses: [405 as const, 502 as const, 504 as const],
  extension: true as const,
  query: anyQuery,
  produces: ['application/json', '*/*'],
  described: { answers: { 202: Received } },
  alsoStatus: [200 as const],
  examples: { answer: { execution_id: 'exe_01kf3v6h2he3wtpk1fw5c0wz9d', status: 'queued' } },
  transaction: false as const,
})

export const webhookRoutes = (webhooks: Webhooks, parts: InboundParts): AnyRoute[] => {
  const run = (ctx: Context, input: InboundCall, exchange: Exchange) => receiveWebhook(parts, ctx, input, exchange)
  const withBody = {
    bodyKind: 'stream' as const,
    bodyLimit: 'file' as const,
    idempotency: 'own' as const,
    status: 202 as const,
    run,
  }
  return routes(
    'Webhooks',
    {
      triggerWebhook: ['POST', '/api/webhooks/workflow/:workflow_id/trigger', token('webhook')],
      getWebhookExecution: ['GET', '/api/webhooks/workflow/:workflow_id/executions/:execution_id', token('webhook')],
      listWebhookDeliveries: ['GET', '/api/workflows/:workflow_id/tokens/:token_id/deliveries', member('workflow')],
      receiveByGet: ['GET', '/api/webhooks/in/:token_or_id', token('inbound')],
      receiveByPost: ['POST', '/api/webhooks/in/:token_or_id', token('inbound')],
      receiveByPut: ['PUT', '/api/webhooks/in/:token_or_id', token('inbound')],
      receiveByPatch: ['PATCH', '/api/webhooks/in/:token_or_id', token('inbound')],
      receiveByDelete: ['DELETE', '/api/webhooks/in/:token_or_id', token('inbound')],
      readWebhookResults: [
        'GET',
        '/api/webhooks/workflow/:workflow_id/executions/:execution_id/results',
        token('webhook'),
      ],
    },
    {
      triggerWebhook: {
        summary: 'Start the workflow with the body as its input',
        description:
          'A JSON object is the input as it is; other content arrives as `{body, content_type}`. Answers 202 once the execution is durable, or with `?wait_s=` 200 and its simplified status if it ends in time.',
        query: waitQuery.loose(),
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
      listWebhookDeliveries: {
        summary: 'The last calls of a webhook token, and why any was refused',
        description:
          'The newest fifty, written within a second or two. Of a `bearer` token only what was refused; what it started is in the list of executions.',
        extension: true,
        query: webhookDeliveryList.query,
        answer: page(WebhookDelivery),
        run: listWebhookDeliveries,
      },
      receiveByGet: { ...received('GET'), withoutHead: true, status: 202, run },
      receiveByPost: { ...received('POST'), ...withBody },
      receiveByPut: { ...received('PUT'), ...withBody },
      receiveByPatch: { ...received('PATCH'), ...withBody },
      receiveByDelete: { ...received('DELETE'), ...withBody },
      readWebhookResults: {
        summary: 'Results of any size of an execution that this token started',
        description:
          'The status contains results over 1 MiB as `{"$blob": address, "bytes"}` with this address. They are streamed.',
        produces: ['application/json'],
        examples: { answer: { total: 25 } },
        transaction: false,
        extension: true,
        run: webhooks.results,
      },
    },
  )
}
