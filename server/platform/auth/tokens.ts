import { makeLru } from '#model/lru'
import type { Database } from '../db/pool.ts'
import { hashSecret, secretLooksValid } from '../ids.ts'
import type { Logger } from '../log.ts'

// Tokens of webhooks and widgets, the hottest paths: one is looked up at most every 800 ms, so that disabling or deleting it
// works everywhere within a second, and its uses are noted in batches.

const KEPT_FOR = 800
const NOTED_EVERY = 5000

const kinds = {
  webhook: {
    prefix: 'whs',
    name: 'identify_webhook_token',
    text: `select t.*, a.created_by, a.principal_id, a.activation_required from identify_webhook_token($1) t
      left join lateral authority_of_webhook(t.workspace_id, t.token_id, t.version_id) a on true`,
    touched: (ids: string[]) => [ids, []],
  },
  embed: {
    prefix: 'ems',
    name: 'identify_embed_token',
    text: 'select * from identify_embed_token($1)',
    touched: (ids: string[]) => [[], ids],
  },
} as const

export function makeTokens<Token>(kind: keyof typeof kinds, { db, log }: { db: Database; log: Logger }) {
  const { prefix, name, text, touched } = kinds[kind]
  const known = makeLru<{ at: number; found: Promise<Token | undefined> }>(10_000)
  const used = new Set<string>()

  const noteUses = (): void => {
    if (used.size === 0) return
    const ids = [...used]
    used.clear()
    db.appPool
      .query('select touch_tokens($1, $2)', touched(ids))
      .catch((error: unknown) => log.debug({ err: error, kind }, 'uses of tokens were not noted'))
  }
  const timer = setInterval(noteUses, NOTED_EVERY)
  timer.unref()

  return {
    async lookUp(secret: string): Promise<Token | undefined> {
      const cached = known.get(secret)
      if (cached && performance.now() - cached.at < KEPT_FOR) return cached.found
      if (!secretLooksValid(prefix, secret)) return undefined
      const found = db.appPool
        .query({ name, text, values: [hashSecret(secret)] })
        .then(({ rows }) => rows[0] as Token | undefined)
      known.set(secret, { at: performance.now(), found })
      found.catch(() => known.set(secret, { at: Number.NEGATIVE_INFINITY, found }))
      return found
    },
    noteUse: (tokenId: string): void => void used.add(tokenId),
    stop: (): void => {
      clearInterval(timer)
      noteUses()
    },
  }
}
