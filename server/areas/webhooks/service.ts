import { sendStoredJson } from '#areas/executions/send-json'
import { originOf } from '#areas/executions/service'
import { activationRequired, endedInTime, idempotencyOf, type StartExecution, targetOf } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import type { Engine, ExecutionView } from '#engine/ports'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import { type Context, scopeOf } from '#platform/http/context'
import { markReplayed } from '#platform/http/idempotency'
import type { Exchange } from '#platform/http/route'
import { toWire } from '#platform/ids'
import { type Deliveries, refusalOf } from './deliveries.ts'
import type { WebhookIdentifier } from './identify.ts'
import type { WebhookToken } from './inbound-token.ts'
import { explainContentType, inputOf } from './input.ts'

const statusUrl = (workflowId: string, executionId: string): string =>
  `/api/webhooks/workflow/${toWire('wf', workflowId)}/executions/${toWire('exe', executionId)}`
const resultsUrl = (workflowId: string, executionId: string): string => `${statusUrl(workflowId, executionId)}/results`

type Named = { workflow_id: string; execution_id: string }

export function makeWebhooks(options: {
  engine: Engine
  views: Views
  startExecution: StartExecution
  tokens: WebhookIdentifier
  deliveries: Deliveries
}) {
  const { engine, views } = options

  /** Reads an execution that the presented token started. Others are not found. */
  async function readOwn(ctx: Context, { workflow_id, execution_id }: Named): Promise<ExecutionView> {
    if (ctx.credential.kind !== 'webhook') throw problem('unauthenticated')
    const { id, workspace_id } = ctx.credential
    const whose = await ctx.db.tenant(scopeOf(ctx), (tx) => originOf(tx, workspace_id, execution_id))
    if (
      !whose ||
      whose.workflow_id !== workflow_id ||
      whose.trigger_kind !== 'webhook' ||
      whose.trigger_id !== toWire('whk', id)
    )
      throw problem('not_found')
    const view = await engine.readExecution(workspace_id, execution_id)
    if (!view) throw problem('not_found')
    return view
  }

  async function start(ctx: Context, token: WebhookToken, body: Buffer, request: Exchange['request']): Promise<string> {
    const { token_id, version_id } = token
    if (version_id === null) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
    if (token.activation_required) throw activationRequired()
    const input = inputOf(body, request.headers['content-type'], ctx.config.HEDDLE_MAX_JSON_DEPTH)
    const { executionId, replayed } = await options
      .startExecution(token.workspace_id, targetOf({ ...token, version_id }), input, {
        trigger: { kind: 'webhook', id: toWire('whk', token_id) },
        startedBy: null,
        initiatedBy: [{ kind: 'webhook_token', id: toWire('whk', token_id), user_id: token.created_by }],
        idempotency: idempotencyOf(ctx, body),
        onCommitting: ctx.awaitCommit,
        traceparent: ctx.traceparent,
        inputPath: '',
      })
      .catch((error: unknown) => {
        throw explainContentType(error, input)
      })
    if (replayed) markReplayed(ctx)
    return executionId
  }

  return {
    async trigger(
      ctx: Context,
      { workflow_id, wait_s, body }: { workflow_id: string; wait_s: number; body: Buffer },
      { request }: Exchange,
    ) {
      const token = await options.tokens.tokenOf(bearerOf(request)!)
      const executionId = await start(ctx, token, body, request).catch((error: unknown) => {
        options.deliveries.note(token, request, body.length, refusalOf(error))
        throw error
      })
      const view = await endedInTime(engine, token.workspace_id, executionId, wait_s, ctx)
      if (view) {
        ctx.status(200)
        return views.simple(view, resultsUrl(workflow_id, executionId))
      }
      return {
        execution_id: executionId,
        status: 'queued' as const,
        status_url: ctx.baseUrl + statusUrl(workflow_id, executionId),
      }
    },

    status: async (ctx: Context, named: Named) =>
      views.simple(await readOwn(ctx, named), resultsUrl(named.workflow_id, named.execution_id)),

    results: async (ctx: Context, named: Named, exchange: Exchange): Promise<void> =>
      sendStoredJson(exchange, await views.results(await readOwn(ctx, named))),
  }
}

export type Webhooks = ReturnType<typeof makeWebhooks>
