import { makeTokens } from '#platform/auth/tokens'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import type { Identity, Org } from '#platform/http/context'
import type { TokenIdentifier } from '#platform/http/kernel-parts'
import type { Logger } from '#platform/log'
import type { Origins } from './origins.ts'
import type { Visitors } from './visitors.ts'

// Identifies the caller of a widget: the embed token determines the template or workflow, the visitor token the
// visitor.

type EmbedToken = {
  token_id: string
  org_id: string
  workspace_id: string
  workflow_id: string | null
  template_id: string | null
  enabled: boolean
  allowed_origins: string[]
  require_origin: boolean
}

export function makeEmbedIdentifier(options: {
  db: Database
  orgOf(host: string): Promise<Org>
  log: Logger
  visitors: Visitors
  origins: Origins
}) {
  const { visitors, origins } = options
  const tokens = makeTokens<EmbedToken>('embed', options)

  const identifyFor =
    (kind: 'template' | 'workflow'): TokenIdentifier =>
    async (request, params): Promise<Identity> => {
      const org = await options.orgOf(request.host)
      const secret = bearerOf(request)
      const refusal = () => problem('unauthenticated', `Send an embed token of this ${kind} as Authorization: Bearer.`)
      const token = secret === undefined ? undefined : await tokens.lookUp(secret)
      const ownerId = kind === 'template' ? token?.template_id : token?.workflow_id
      if (!token || token.org_id !== org.org_id || !ownerId || ownerId !== params[`${kind}_id`] || !token.enabled)
        throw refusal()
      await origins.check(request, token)
      tokens.noteUse(token.token_id)
      const visitor = request.headers['x-visitor-token']
      return {
        org,
        person: null,
        workspace: { workspace_id: token.workspace_id, role: 'guest' },
        credential: {
          kind: 'embed',
          id: token.token_id,
          workspace_id: token.workspace_id,
          template_id: token.template_id,
          workflow_id: token.workflow_id,
          visitor_id: visitors.read(ownerId, typeof visitor === 'string' ? visitor : undefined),
        },
      }
    }

  return {
    template: identifyFor('template'),
    workflow: identifyFor('workflow'),
    stop: tokens.stop,
  }
}
