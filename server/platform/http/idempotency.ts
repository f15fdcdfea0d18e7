import { createHash } from 'node:crypto'
import { SECOND } from '../clock.ts'
import type { Database, Tx } from '../db/pool.ts'
import { problem } from '../errors.ts'
import type { Vault } from '../secrets.ts'
import type { Answer } from './answer.ts'
import type { Credential } from './context.ts'

// "Same key and body, same bytes" for 24 hours, across restarts and servers. A key is stored under today's date and
// also looked up under yesterday's date, so that whole days can be dropped.

const REPLAYED = 'idempotent-replayed'

/** Marks a response as a repetition of an earlier one. For verbs that store the key themselves. */
export function markReplayed(answer: { header(name: string, value: string): unknown }): void {
  answer.header(REPLAYED, 'true')
}

export type Replay = { keyHash: Buffer; requestSha256: Buffer }

type Row = {
  request_sha256: Buffer
  state: 'in_progress' | 'done'
  status: number
  headers: Record<string, string>
  answer: Buffer | null
  stale: boolean
}

/**
 * The time after which a repetition may take over an attempt that is no longer renewed (because the server died during
 * it).
 */
const ABANDONED_AFTER = '60 seconds'
const RENEWED_EVERY = 15 * SECOND
/** The maximum time that a repetition waits for the first request to end. */
const WAITS = 60 * SECOND

const NOBODY = { workspaceId: null, userId: null }

/**
 * Returns the owner of a key. Work done in one workspace is not done in another, so each workspace has its own keys.
 */
export const keyOwnerOf = (credential: Credential, userId: string | null, workspaceId: string | null): string =>
  `${credentialText(credential, userId)} in ${workspaceId}`

const credentialText = (credential: Credential, userId: string | null): string => {
  if (credential.kind === 'session') return `person:${userId}`
  if (credential.kind === 'embed') return `embed:${credential.id}:${credential.visitor_id ?? ''}`
  return credential.kind === 'none' ? 'none' : `${credential.kind}:${credential.id}`
}

export function replayOf(parts: { holder: string; key: string; method: string; url: string; body: Buffer }): Replay {
  return {
    keyHash: createHash('sha256').update(`${parts.holder}\n${parts.key}`).digest(),
    requestSha256: createHash('sha256').update(`${parts.method} ${parts.url}\n`).update(parts.body).digest(),
  }
}

const find = (tx: Tx, replay: Replay): Promise<Row | undefined> =>
  tx.maybe<Row>(
    `select request_sha256, state, status, headers, answer, created_at < now() - interval '${ABANDONED_AFTER}' as stale
     from idempotency_keys
     where key_hash = $1 and day in (current_date, current_date - 1) and created_at > now() - interval '24 hours'
     order by day desc limit 1`,
    [replay.keyHash],
  )

/** Both statements are sent together. The second reads after the first has the lock. */
const lockAndFind = async (tx: Tx, replay: Replay): Promise<Row | undefined> => {
  const { keyHash } = replay
  const lock = tx.rows('select pg_advisory_xact_lock($1, $2)', [keyHash.readInt32BE(0), keyHash.readInt32BE(4)])
  const [, row] = await Promise.all([lock, find(tx, replay)])
  return row
}

const check = (row: Row, replay: Replay): void => {
  if (!row.request_sha256.equals(replay.requestSha256)) {
    throw problem('idempotency_key_reused', 'Use a new Idempotency-Key for a different request.')
  }
}

/** Deletes the key of a failed request, so that the client may retry with the same key. */
const forget = (db: Database, replay: Replay): Promise<unknown> =>
  db
    .tenant(NOBODY, (tx) =>
      tx.count(`delete from idempotency_keys where key_hash = $1 and state = 'in_progress'`, [replay.keyHash]),
    )
    .catch(() => {})

export function makeIdempotency(vault: Vault, { renewedEvery = RENEWED_EVERY, waits = WAITS } = {}) {
  const place = (replay: Replay) => ['', 'idempotency_keys', replay.keyHash.toString('hex'), 'answer'] as const

  const open = (row: Row, replay: Replay): Answer => ({
    status: row.status,
    headers: { ...row.headers, [REPLAYED]: 'true' },
    body: row.answer === null ? null : Buffer.from(vault.open(place(replay), row.answer), 'base64'),
  })

  const save = (tx: Tx, replay: Replay, answer: Answer): Promise<number> =>
    tx.count(
      `insert into idempotency_keys (day, key_hash, request_sha256, state, status, headers, answer)
       values (current_date, $1, $2, 'done', $3, $4, $5)
       on conflict (day, key_hash) do update set request_sha256 = excluded.request_sha256, state = 'done',
         status = excluded.status, headers = excluded.headers, answer = excluded.answer, created_at = now()`,
      [
        replay.keyHash,
        replay.requestSha256,
        answer.status,
        answer.headers,
        answer.body === null ? null : vault.seal(place(replay), answer.body.toString('base64')),
      ],
    )

  /** Records the attempt. A repetition waits for the first attempt to end, and gets its row. */
  const beginOutside = async (db: Database, replay: Replay, hungUp?: AbortSignal): Promise<Row | undefined> => {
    for (const since = performance.now(); ; ) {
      const seen = await db.tenant(NOBODY, async (tx) => {
        const row = await lockAndFind(tx, replay)
        if (row) check(row, replay)
        if (row && (row.state === 'done' || !row.stale)) return row
        await tx.count(
          `insert into idempotency_keys (day, key_hash, request_sha256, state) values (current_date, $1, $2, 'in_progress')
           on conflict (day, key_hash) do update set state = 'in_progress', created_at = now()`,
          [replay.keyHash, replay.requestSha256],
        )
        return undefined
      })
      if (seen?.state !== 'in_progress') return seen
      if (hungUp?.aborted || performance.now() - since > waits)
        throw problem('unavailable', 'The first request with this key is still in progress. Try again later.', {
          retryAfterS: 5,
        })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  return {
    /** Runs inside the verb's own transaction: duplicates wait for the commit of the first, then get its response. */
    async once(tx: Tx, replay: Replay, perform: () => Promise<Answer>): Promise<Answer> {
      const row = await lockAndFind(tx, replay)
      if (row?.state === 'done') {
        check(row, replay)
        return open(row, replay)
      }
      const answer = await perform()
      await save(tx, replay, answer)
      return answer
    },

    /**
     * Wraps a verb that streams its progress and recognises a repetition itself: a request with the same key and body
     * follows the same work, and later gets its response. Another body is refused.
     */
    async onceWatched(db: Database, replay: Replay, perform: () => Promise<Answer>): Promise<Answer> {
      const seen = await db.tenant(NOBODY, async (tx) => {
        const row = await lockAndFind(tx, replay)
        if (row) check(row, replay)
        if (row?.state === 'done') return row
        await tx.count(
          `insert into idempotency_keys (day, key_hash, request_sha256, state) values (current_date, $1, $2, 'in_progress')
           on conflict (day, key_hash) do update set created_at = now()`,
          [replay.keyHash, replay.requestSha256],
        )
        return undefined
      })
      if (seen) return open(seen, replay)
      try {
        const answer = await perform()
        await db.tenant(NOBODY, (tx) => save(tx, replay, answer))
        return answer
      } catch (error) {
        await forget(db, replay)
        throw error
      }
    },

    /**
     * Returns the response to an earlier request with the same key, for an operation that does much work before the
     * transaction of `once`.
     */
    async earlier(tx: Tx, replay: Replay): Promise<Answer | undefined> {
      const row = await find(tx, replay)
      if (row?.state !== 'done') return undefined
      check(row, replay)
      return open(row, replay)
    },

    /**
     * Wraps a verb that calls an outside service. The attempt is recorded before the call, so that a crash during it is
     * noticed; the repetition then passes the same key to the provider. The record is renewed during the call, so that
     * a long call is never mistaken for an abandoned one.
     */
    async onceOutside(
      db: Database,
      replay: Replay,
      perform: () => Promise<Answer>,
      hungUp?: AbortSignal,
    ): Promise<Answer> {
      const earlier = await beginOutside(db, replay, hungUp)
      if (earlier) return open(earlier, replay)
      const renewing = setInterval(() => {
        db.tenant(NOBODY, (tx) =>
          tx.count(`update idempotency_keys set created_at = now() where key_hash = $1 and state = 'in_progress'`, [
            replay.keyHash,
          ]),
        ).catch(() => {})
      }, renewedEvery)
      try {
        const answer = await perform()
        await db.tenant(NOBODY, (tx) => save(tx, replay, answer))
        return answer
      } catch (error) {
        await forget(db, replay)
        throw error
      } finally {
        clearInterval(renewing)
      }
    },
  }
}

export type Idempotency = ReturnType<typeof makeIdempotency>
