import type { Json } from '#model/definition'
import { makeLru } from '#model/lru'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import type { Identity, Org } from '#platform/http/context'
import type { TokenIdentifier } from '#platform/http/kernel'
import { hashSecret, secretLooksValid } from '#platform/ids'
import type { Logger } from '#platform/log'

// A webhook call is the hottest path: the token is looked up at most every 800 ms, so that disabling it works everywhere
// within a second, and its uses are noted in batches.

const KEPT_FOR = 800
const NOTED_EVERY = 5000

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
}

export function makeWebhookIdentifier(options: { db: Database; orgOf(host: string): Promise<Org>; log: Logger }) {
  const { db } = options
  const known = makeLru<{ at: number; found: Promise<WebhookToken | undefined> }>(10_000)
  const used = new Set<string>()

  const lookUp = async (secret: string): Promise<WebhookToken | undefined> => {
    const cached = known.get(secret)
    if (cached && performance.now() - cached.at < KEPT_FOR) return cached.found
    if (!secretLooksValid('whs', secret)) return undefined
    const found = db.appPool
      .query<WebhookToken>({
        name: 'identify_webhook_token',
        text: 'select * from identify_webhook_token($1)',
        values: [hashSecret(secret)],
      })
      .then(({ rows }) => rows[0])
    known.set(secret, { at: performance.now(), found })
    found.catch(() => known.set(secret, { at: Number.NEGATIVE_INFINITY, found }))
    return found
  }

  const noteUses = (): void => {
    if (used.size === 0) return
    const tokens = [...used]
    used.clear()
    db.appPool
      .query('select touch_tokens($1, $2)', [tokens, []])
      .catch((error: unknown) => options.log.debug({ err: error }, 'uses of tokens were not noted'))
  }
  const timer = setInterval(noteUses, NOTED_EVERY)
  timer.unref()

  const identify: TokenIdentifier = async (request, params): Promise<Identity> => {
    const org = await options.orgOf(request.host)
    const secret = bearerOf(request)
    const token = secret === undefined ? undefined : await lookUp(secret)
    if (!token || token.org_id !== org.org_id || token.workflow_id !== params.workflow_id || token.expired)
      throw problem('unauthenticated', 'Send a webhook token of this workflow as Authorization: Bearer.')
    if (!token.enabled) throw problem('token_disabled', 'The owner of the workflow can enable it again.')
    used.add(token.token_id)
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
      const token = await lookUp(secret)
      if (!token || token.expired) throw problem('unauthenticated', 'The webhook token has just been deleted.')
      if (!token.enabled) throw problem('token_disabled', 'The owner of the workflow can enable it again.')
      return token
    },
    stop: (): void => {
      clearInterval(timer)
      noteUses()
    },
  }
}

export type WebhookIdentifier = ReturnType<typeof makeWebhookIdentifier>
