import type pg from 'pg'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'

// Hints that executions have new events or messages: to listeners in this process at once, to other processes by NOTIFY.
// NOTIFY serialises commits, so hints are gathered and sent on their own, never inside a transaction that does work.

const CHANNEL = 'heddle_executions'
const GATHER_MS = 20
/** So many leave at once after a quiet time; only what follows closely is gathered. An answer waits for no other's hint. */
const AT_ONCE = 10
/** A payload holds 8,000 bytes; more ids than this become "everything". */
const MAX_IDS = 150

// A hint may be lost, so its commit need not wait for the disk: it would compete with the commits of the journal.
const NOTIFY = `with quick as materialized (select set_config('synchronous_commit', 'off', true))
  select pg_notify($1, payload) from quick, unnest($2::text[]) as payload`

export type Hint = { kind: 'appended' | 'nudged'; ids: string[] }

export type Hints = {
  appended(executionId: string): void
  nudged(executionIds: string[]): void
  on(listener: (hint: Hint, local: boolean) => void): () => void
  stop(): Promise<void>
}

export const makeHints = async (deps: { db: Database; log: Logger; self: string }): Promise<Hints> => {
  const { db, log, self } = deps
  const listeners = new Set<(hint: Hint, local: boolean) => void>()
  const gathered = { appended: new Set<string>(), nudged: new Set<string>() }
  let timer: NodeJS.Timeout | undefined
  let now: NodeJS.Immediate | undefined
  // Moves by GATHER_MS with each one sent, and is never far behind: how far says how many may leave at once.
  let paidUntil = Number.NEGATIVE_INFINITY
  let local: { appended: string[] } | undefined

  const emit = (hint: Hint, isLocal: boolean): void => {
    for (const listener of listeners) listener(hint, isLocal)
  }

  const send = (pool: pg.Pool): void => {
    timer = now = undefined
    paidUntil = Math.max(paidUntil, performance.now() - AT_ONCE * GATHER_MS) + GATHER_MS
    const texts = (['appended', 'nudged'] as const).flatMap((kind) => {
      const ids = gathered[kind]
      if (ids.size === 0) return []
      const text = ids.size > MAX_IDS ? '*' : [...ids].join()
      gathered[kind] = new Set()
      return [`${self} ${kind} ${text}`]
    })
    pool
      .query({
        name: 'engine-notify',
        text: NOTIFY,
        values: [CHANNEL, texts],
      })
      .catch((error: Error) => log.debug({ err: error }, 'a hint was lost'))
  }

  const gather = (kind: 'appended' | 'nudged', id: string): void => {
    gathered[kind].add(id)
    if (timer || now) return
    const wait = paidUntil - performance.now()
    if (wait > 0) timer = setTimeout(send, wait, db.enginePool)
    else now = setImmediate(send, db.enginePool)
  }

  const unlisten = await db.listen(CHANNEL, (payload) => {
    const [from, kind, text = ''] = payload.split(' ')
    if (from === self) return
    // An empty payload follows a reconnect: anything may have happened meanwhile.
    if (kind !== 'appended' && kind !== 'nudged') {
      emit({ kind: 'appended', ids: ['*'] }, false)
      emit({ kind: 'nudged', ids: ['*'] }, false)
    } else emit({ kind, ids: text.split(',') }, false)
  })

  return {
    appended: (id) => {
      gather('appended', id)
      if (local) local.appended.push(id)
      else {
        local = { appended: [id] }
        setImmediate(() => {
          const ids = local?.appended ?? []
          local = undefined
          emit({ kind: 'appended', ids }, true)
        })
      }
    },
    nudged: (ids) => {
      for (const id of ids) gather('nudged', id)
      emit({ kind: 'nudged', ids }, true)
    },
    on: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: async () => {
      clearTimeout(timer)
      clearImmediate(now)
      await unlisten()
    },
  }
}
