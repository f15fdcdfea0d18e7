import { makeLru } from '#model/lru'
import type { Database } from '../db/pool.ts'
import { fromWire, hashSecret, secretLooksValid } from '../ids.ts'
import type { Logger } from '../log.ts'
import { msUntilNextCheck } from '../periodic-check.ts'

// Tokens of webhooks and widgets, the hottest paths. A token is looked up at most every 800 ms, and its uses are
// recorded in batches. A change of a token sends a hint. The change applies at once in the process that made it, and
// within a second in the others even if the hint is lost.

/**
 * The channel of hints about tokens. A hint is the id of a token, or of a workflow. The tokens of a workflow are cached
 * with its active version and its settings, and are deleted with it.
 */
export const TOKENS_CHANGED = 'tokens'

const KEPT_FOR = 800
const NOTED_EVERY = 5000

type Kind = {
  name: string
  text: string
  /** Returns the query parameters, or undefined if the text cannot be a token; such a text is not looked up. */
  values(shown: string): unknown[] | undefined
  touched(ids: string[]): [webhook: string[], embed: string[]]
}

const hashed =
  (prefix: 'whs' | 'ems') =>
  (secret: string): unknown[] | undefined =>
    secretLooksValid(prefix, secret) ? [hashSecret(secret)] : undefined

const kinds: Record<'webhook' | 'inbound' | 'embed', Kind> = {
  webhook: {
    values: hashed('whs'),
    name: 'identify_webhook_token',
    text: `select t.*, a.created_by, a.principal_id, a.activation_required from identify_webhook_token($1) t
      left join lateral authority_of_webhook(t.workspace_id, t.token_id, t.version_id) a on true`,
    touched: (ids) => [ids, []],
  },
  /**
   * Looks a token up by its part of the address: a secret, or the id of a token that requires a password or a
   * signature.
   */
  inbound: {
    values: (shown) => {
      const id = fromWire('whk', shown)
      return id === undefined ? hashed('whs')(shown)?.concat(null) : [null, id]
    },
    name: 'identify_inbound_token',
    text: 'select * from identify_inbound_token($1, $2)',
    touched: (ids) => [ids, []],
  },
  embed: {
    values: hashed('ems'),
    name: 'identify_embed_token',
    text: 'select * from identify_embed_token($1)',
    touched: (ids) => [[], ids],
  },
}

type Found = { token_id: string; workflow_id: string | null }

export function makeTokens<Token extends Found>(kind: keyof typeof kinds, { db, log }: { db: Database; log: Logger }) {
  const { values, name, text, touched } = kinds[kind]
  const known = makeLru<{ at: number; found: Promise<Token | undefined> }>(10_000)
  /** The time of the last change of each token or workflow. Tokens looked up before that time are looked up again. */
  const changed = makeLru<number>(10_000)
  let allChanged = Number.NEGATIVE_INFINITY
  // If listening fails, a change still applies within a second.
  const listening = db
    .listen(TOKENS_CHANGED, (id) => {
      if (id === '') allChanged = performance.now()
      else changed.set(id, performance.now())
    })
    .catch(() => async () => {})

  const isCurrent = (token: Token | undefined, at: number): boolean =>
    at > allChanged &&
    (token === undefined ||
      (at > (changed.get(token.token_id) ?? Number.NEGATIVE_INFINITY) &&
        at > (changed.get(token.workflow_id ?? '') ?? Number.NEGATIVE_INFINITY)))

  const used = new Set<string>()

  const noteUses = (): void => {
    if (used.size === 0) return
    const ids = [...used]
    used.clear()
    db.appPool
      .query('select touch_tokens($1, $2)', touched(ids))
      .catch((error: unknown) => log.debug({ err: error, kind }, 'the use of tokens could not be recorded'))
  }
  const timer = setInterval(noteUses, msUntilNextCheck(NOTED_EVERY))
  timer.unref()

  return {
    async lookUp(secret: string): Promise<Token | undefined> {
      const cached = known.get(secret)
      if (cached && performance.now() - cached.at < KEPT_FOR) {
        const token = await cached.found
        if (isCurrent(token, cached.at)) return token
      }
      const given = values(secret)
      if (given === undefined) return undefined
      const found = db.appPool.query({ name, text, values: given }).then(({ rows }) => rows[0] as Token | undefined)
      known.set(secret, { at: performance.now(), found })
      found.catch(() => known.set(secret, { at: Number.NEGATIVE_INFINITY, found }))
      return found
    },
    noteUse: (tokenId: string): void => void used.add(tokenId),
    async stop(): Promise<void> {
      clearInterval(timer)
      noteUses()
      await (await listening)()
    },
  }
}
