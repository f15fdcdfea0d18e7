import { originOf } from '#areas/executions/service'
import { activationRequired, endedInTime, idempotencyOf, type StartExecution, targetOf } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import type { Engine } from '#engine/ports'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { toWire } from '#platform/ids'
import type { WebhookIdentifier } from './identify.ts'
import { inputOf } from './input.ts'

export function makeWebhooks(options: {
  engine: Engine
  views: Views
  startExecution: StartExecution
  tokens: WebhookIdentifier
}) {
  const { engine, views } = options
  return {
    async trigger(
      ctx: Context,
      { workflow_id, wait_s, body }: { workflow_id: string; wait_s: number; body: Buffer },
      { request }: Exchange,
    ) {
      const token = await options.tokens.tokenOf(bearerOf(request)!)
      if (token.version_id === null)
        throw problem('no_active_version', 'The owner of the workflow must activate a version.')
      if (token.activation_required) throw activationRequired()
      const input = inputOf(body, request.headers['content-type'], ctx.config.HEDDLE_MAX_JSON_DEPTH)
      const target = targetOf({
        workflow_id,
        settings: token.settings,
        version_id: token.version_id,
        inputs: token.inputs,
        principal_id: token.principal_id,
      })
      const { executionId } = await options.startExecution(token.workspace_id, target, input, {
        trigger: { kind: 'webhook', id: toWire('whk', token.token_id) },
        startedBy: null,
        initiatedBy: [{ kind: 'webhook_token', id: toWire('whk', token.token_id), user_id: token.created_by }],
        idempotency: idempotencyOf(ctx, body),
        inputPath: '',
      })
      const view = await endedInTime(engine, token.workspace_id, executionId, wait_s, ctx.signal)
      if (view) {
        ctx.status(200)
        return views.simple(view)
      }
      return {
        execution_id: executionId,
        status: 'queued' as const,
        status_url: `${ctx.baseUrl}/api/webhooks/workflow/${toWire('wf', workflow_id)}/executions/${toWire('exe', executionId)}`,
      }
    },

    /** Only what the presented token started: everything else does not exist for it. */
    async status(ctx: Context, { workflow_id, execution_id }: { workflow_id: string; execution_id: string }) {
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
      return views.simple(view)
    },
  }
}

export type Webhooks = ReturnType<typeof makeWebhooks>
