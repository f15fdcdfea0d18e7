import { member, owner } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { Vault } from '#platform/secrets'
import { embedTokenVerbs } from './embed-token-verbs.ts'
import { tokenList } from './token-schema.ts'
import type { makeEmbedTokens } from './tokens.ts'
import {
  type NewWebhookToken as NewToken,
  NewWebhookToken,
  type WebhookTokenPatch as TokenPatch,
  WebhookToken,
  WebhookTokenMade,
  WebhookTokenPatch,
} from './webhook-token-schema.ts'
import * as webhookTokens from './webhook-tokens.ts'

export type TokenParts = {
  vault: Vault
  embedTokens: ReturnType<typeof makeEmbedTokens<{ workflow_id: string }>>
}

/** Routes of the tokens with which programs and other sites call a workflow. */
export function tokenRoutes({ vault, embedTokens }: TokenParts): AnyRoute[] {
  const embed = embedTokenVerbs(embedTokens)
  return routes(
    'Workflows',
    {
      listWebhookTokens: ['GET', '/api/workflows/:workflow_id/tokens', member('workflow')],
      createWebhookToken: ['POST', '/api/workflows/:workflow_id/tokens', owner('workflow')],
      getWebhookToken: ['GET', '/api/workflows/:workflow_id/tokens/:token_id', member('workflow')],
      updateWebhookToken: ['PATCH', '/api/workflows/:workflow_id/tokens/:token_id', owner('workflow')],
      deleteWebhookToken: ['DELETE', '/api/workflows/:workflow_id/tokens/:token_id', owner('workflow')],
      listEmbedTokens: ['GET', '/api/workflows/:workflow_id/embed-tokens', member('workflow')],
      createEmbedToken: ['POST', '/api/workflows/:workflow_id/embed-tokens', owner('workflow')],
      getEmbedToken: ['GET', '/api/workflows/:workflow_id/embed-tokens/:token_id', member('workflow')],
      updateEmbedToken: ['PATCH', '/api/workflows/:workflow_id/embed-tokens/:token_id', owner('workflow')],
      deleteEmbedToken: ['DELETE', '/api/workflows/:workflow_id/embed-tokens/:token_id', owner('workflow')],
    },
    {
      listWebhookTokens: {
        summary: 'Webhook tokens, without their secrets',
        query: tokenList.query,
        answer: page(WebhookToken),
        run: webhookTokens.listWebhookTokens,
      },
      createWebhookToken: {
        summary: 'Create a webhook token; `token` is shown this once',
        description:
          'A `bearer` token starts the workflow at `/api/webhooks/workflow/{workflow_id}/trigger`. With another `auth` it is called at `/api/webhooks/in/{token_or_id}`: `url` has its secret there, `basic` and `hmac` their id, and the caller proves itself by a password or a signature.',
        body: NewWebhookToken,
        answer: WebhookTokenMade,
        status: 201,
        location: ({ token_id }, path) => `${path}/${token_id}`,
        examples: { body: { name: 'GitHub', auth: { kind: 'hmac', preset: 'github' } } },
        run: (ctx: Context, input: webhookTokens.OfWorkflow & NewToken) =>
          webhookTokens.createWebhookToken({ vault }, ctx, input),
      },
      getWebhookToken: {
        summary: 'One webhook token, without its secret',
        extension: true,
        answer: WebhookToken,
        run: webhookTokens.getWebhookToken,
      },
      updateWebhookToken: {
        summary: 'Rename, enable or disable a webhook token; change its secret or how it is called',
        body: WebhookTokenPatch,
        answer: WebhookToken,
        current: webhookTokens.getWebhookToken,
        run: (ctx: Context, input: webhookTokens.OneToken & TokenPatch) =>
          webhookTokens.updateWebhookToken({ vault }, ctx, input),
      },
      deleteWebhookToken: {
        summary: 'Delete a webhook token',
        status: 204,
        current: webhookTokens.getWebhookToken,
        run: webhookTokens.deleteWebhookToken,
      },
      listEmbedTokens: { summary: 'Embed tokens, without their secrets', ...embed.list },
      createEmbedToken: {
        summary: 'Create an embed token for a widget on another site; `token` is shown this once',
        ...embed.create,
      },
      getEmbedToken: { summary: 'One embed token, with the token itself', extension: true, ...embed.get },
      updateEmbedToken: { summary: 'Change name, origins or state of an embed token', ...embed.update },
      deleteEmbedToken: { summary: 'Delete an embed token', ...embed.delete },
    },
  )
}
