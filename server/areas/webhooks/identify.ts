import type { FastifyRequest } from 'fastify'
import { isBasic } from '#platform/auth/signatures'
import { makeTokens } from '#platform/auth/tokens'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import type { Identity, Org } from '#platform/http/context'
import type { TokenIdentifier } from '#platform/http/kernel-parts'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import { type Deliveries, refusalOf } from './deliveries.ts'
import { type InboundToken, secretOf, type WebhookToken } from './inbound-token.ts'

export const tokenDisabled = () => problem('token_disabled', 'The owner of the workflow can enable it again.')

export function makeWebhookIdentifier(options: {
  db: Database
  orgOf(host: string): Promise<Org>
  log: Logger
  vault: Vault
  deliveries: Deliveries
}) {
  const tokens = makeTokens<WebhookToken>('webhook', options)
  const inbound = makeTokens<InboundToken>('inbound', options)

  const identify: TokenIdentifier = async (request, params): Promise<Identity> => {
    const org = await options.orgOf(request.host)
    const secret = bearerOf(request)
    const token = secret === undefined ? undefined : await tokens.lookUp(secret)
    if (!token || token.org_id !== org.org_id || token.workflow_id !== params.workflow_id || token.expired)
      throw problem('unauthenticated', 'Send a webhook token of this workflow as Authorization: Bearer.')
    if (!token.enabled) throw tokenDisabled()
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

  const inboundTokenOf = async (shown: string): Promise<InboundToken> => {
    const token = await inbound.lookUp(shown)
    if (!token || token.expired) throw problem('unauthenticated', 'No webhook token has this address.')
    if (!token.enabled) throw tokenDisabled()
    return token
  }

  /** Checks the name and the password that the sender of a `basic` token sent. */
  const checkPassword = (token: InboundToken, request: FastifyRequest): void => {
    if (token.auth !== 'basic') return
    const { username = '' } = token.auth_config as { username?: string }
    if (isBasic(request.headers.authorization, username, secretOf(options.vault, token))) return
    throw problem('unauthenticated', 'Send the name and the password of the webhook token as Authorization: Basic.', {
      challenge: 'Basic realm="webhook", charset="UTF-8"',
    })
  }

  /**
   * A signature covers the body, which has not arrived yet. Until it is verified, the caller counts as unknown at their
   * IP address and does not use the limits of the token and its workspace.
   */
  const identifyInbound: TokenIdentifier = async (request, params): Promise<Identity> => {
    const org = await options.orgOf(request.host)
    const token = await inboundTokenOf(params.token_or_id ?? '')
    if (token.org_id !== org.org_id) throw problem('unauthenticated', 'No webhook token has this address.')
    if (token.auth === 'hmac') return { org, person: null, workspace: null, credential: { kind: 'none' } }
    try {
      checkPassword(token, request)
    } catch (error) {
      options.deliveries.note(token, request, 0, refusalOf(error))
      throw error
    }
    const { workspace_id, workflow_id, token_id } = token
    return {
      org,
      person: null,
      workspace: { workspace_id, role: 'guest' },
      credential: { kind: 'webhook', id: token_id, workspace_id, workflow_id },
    }
  }

  return {
    identify,
    identifyInbound,
    inboundTokenOf,
    /**
     * Looks up the token again after the body has arrived, because the token, its password or its state may have been
     * changed during a slow upload.
     */
    inboundTokenAfter: async (shown: string, request: FastifyRequest): Promise<InboundToken> => {
      const token = await inboundTokenOf(shown)
      checkPassword(token, request)
      return token
    },
    noteInboundUse: inbound.noteUse,
    /**
     * Looks up the token again after the body has arrived, because the token may have been changed during a slow
     * upload.
     */
    tokenOf: async (secret: string): Promise<WebhookToken> => {
      const token = await tokens.lookUp(secret)
      if (!token || token.expired) throw problem('unauthenticated', 'The webhook token has just been deleted.')
      if (!token.enabled) throw tokenDisabled()
      return token
    },
    async stop(): Promise<void> {
      await tokens.stop()
      await inbound.stop()
    },
  }
}

export type WebhookIdentifier = ReturnType<typeof makeWebhookIdentifier>
