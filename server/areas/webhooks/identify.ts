import type { Json } from '#model/definition'
import { makeTokens } from '#platform/auth/tokens'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import type { Identity, Org } from '#platform/http/context'
import type { TokenIdentifier } from '#platform/http/kernel-parts'
import type { Logger } from '#platform/log'

export type WebhookToken = {
  token_id: string
  org_id: string
  workspace_id: string
  workflow_id: string
  enabled: boolean
  expired: boolean
  version_id: string | null
  inputs: Json | null
  settings: { timeout_s?: number; max_concurrency?: number }
  created_by: string | null
  principal_id: string | null
  activation_required: boolean
}

export function makeWebhookIdentifier(options: { db: Database; orgOf(host: string): Promise<Org>; log: Logger }) {
  const tokens = makeTokens<WebhookToken>('webhook', options)

  const identify: TokenIdentifier = async (request, params): Promise<Identity> => {
    const org = await options.orgOf(request.host)
    const secret = bearerOf(request)
    const token = secret === undefined ? undefined : await tokens.lookUp(secret)
    if (!token || token.org_id !== org.org_id || token.workflow_id !== params.workflow_id || token.expired)
      throw problem('unauthenticated', 'Send a webhook token of this workflow as Authorization: Bearer.')
    if (!token.enabled) throw problem('token_disabled', 'The owner of the workflow can enable it again.')
    tokens.noteUse(token.token_id)
    return {
      org,
      person: null,
      workspace: { workspace_id: token.workspace_id, role: 'guest' },
      credential: {
        kind: 'webhook',
        id: token.token_id,
        workspace_id: token.workspace_id,
        workflow_id: token.workflow_id,
      },
    }
  }

  return {
    identify,
    /** Looked up again once the body is there: whoever sends it slowly may have lost the token meanwhile. */
    tokenOf: async (secret: string): Promise<WebhookToken> => {
      const token = await tokens.lookUp(secret)
      if (!token || token.expired) throw problem('unauthenticated', 'The webhook token has just been deleted.')
      if (!token.enabled) throw problem('token_disabled', 'The owner of the workflow can enable it again.')
      return token
    },
    stop: tokens.stop,
  }
}

export type WebhookIdentifier = ReturnType<typeof makeWebhookIdentifier>
