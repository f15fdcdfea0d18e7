import { makeLru } from '#model/lru'
import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { bearerOf } from '#platform/http/caller'
import type { Identity, Org } from '#platform/http/context'
import type { TokenIdentifier } from '#platform/http/kernel'
import { hashSecret, secretLooksValid } from '#platform/ids'
import type { Logger } from '#platform/log'
import type { Origins } from './origins.ts'
import type { Visitors } from './visitors.ts'

// Who calls from a widget: the token says which template or workflow, the visitor token who. A token is looked up at most
// every 800 ms, so that disabling or deleting it works everywhere within a second; its uses are noted in batches.

const KEPT_FOR = 800
const NOTED_EVERY = 5000

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
  const { db, visitors, origins } = options
  const known = makeLru<{ at: number; found: Promise<EmbedToken | undefined> }>(10_000)
  const used = new Set<string>()

  const lookUp = (secret: string): Promise<EmbedToken | undefined> => {
    const cached = known.get(secret)
    if (cached && performance.now() - cached.at < KEPT_FOR) return cached.found
    const found = db.appPool
      .query<EmbedToken>({
        name: 'identify_embed_token',
        text: 'select * from identify_embed_token($1)',
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
      .query('select touch_tokens($1, $2)', [[], tokens])
      .catch((error: unknown) => options.log.debug({ err: error }, 'uses of embed tokens were not noted'))
  }
  const timer = setInterval(noteUses, NOTED_EVERY)
  timer.unref()

  const identifyFor =
    (kind: 'template' | 'workflow'): TokenIdentifier =>
    async (request, params): Promise<Identity> => {
      const org = await options.orgOf(request.host)
      const secret = bearerOf(request)
      const refusal = () => problem('unauthenticated', `Send an embed token of this ${kind} as Authorization: Bearer.`)
      if (secret === undefined || !secretLooksValid('ems', secret)) throw refusal()
      const token = await lookUp(secret)
      const ownerId = kind === 'template' ? token?.template_id : token?.workflow_id
      if (!token || token.org_id !== org.org_id || !ownerId || ownerId !== params[`${kind}_id`] || !token.enabled)
        throw refusal()
      await origins.check(request, token)
      used.add(token.token_id)
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
    stop: (): void => {
      clearInterval(timer)
      noteUses()
    },
  }
}
