import type pg from 'pg'
import type { ExecutionStatus } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'

// Hints that executions have new events. Listeners in this process receive them at once, other processes by NOTIFY.
// NOTIFY serializes commits, so hints are gathered and sent separately, never inside a transaction that does work.

const CHANNEL = 'executions'
const GATHER_MS = 20
/**
 * The number of hints that are sent at once after a quiet time. Only hints that follow closely are gathered, so a
 * single answer does not wait for the hints of other executions.
 */
const AT_ONCE = 10
/** A payload is limited to 8,000 bytes. More ids than this are sent as "everything". */
const MAX_IDS = 150

// A hint may be lost, so its commit does not wait for the disk, where it would compete with the commits of the
// journal.
const NOTIFY = `with quick as materialized (select set_config('synchronous_commit', 'off', true))
  select pg_notify($1, $2) from quick`

/** `here`: this process appended the events. */
export type Listener = (executionIds: string[], here: boolean) => void

export type Ended = { executionId: string; status: ExecutionStatus }

export type Hints = {
  /** `ended`: the final status, if the append ended the execution. */
  appended(executionId: string, ended?: ExecutionStatus): void
  on(listener: Listener): () => void
  onEnded(listener: (ends: Ended[]) => void): () => void
  stop(): Promise<void>
}

export const makeHints = async (deps: { db: Database; log: Logger }): Promise<Hints> => {
  const { db, log } = deps
  const self = newId()
  const listeners = new Set<Listener>()
  let gathered = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let now: NodeJS.Immediate | undefined
  // Advances by GATHER_MS with each notification and lags at most AT_ONCE of them. The lag is the number that may be
  // sent at once.
  let paidUntil = Number.NEGATIVE_INFINITY
  const endListeners = new Set<(ends: Ended[]) => void>()
  let local: string[] | undefined
  let ends: Ended[] = []

  const emit = (executionIds: string[], here: boolean): void => {
    for (const listener of listeners) listener(executionIds, here)
  }

  const emitLocal = (): void => {
    const ids = local ?? []
    const ended = ends
    local = undefined
    ends = []
    if (ended.length > 0) for (const listener of endListeners) listener(ended)
    emit(ids, true)
  }

  const send = (pool: pg.Pool): void => {
    timer = now = undefined
    paidUntil = Math.max(paidUntil, performance.now() - AT_ONCE * GATHER_MS) + GATHER_MS
    const text = gathered.size > MAX_IDS ? '*' : [...gathered].join()
    gathered = new Set()
    pool
      .query({ name: 'engine-notify', text: NOTIFY, values: [CHANNEL, `${self} ${text}`] })
      .catch((error: Error) => log.debug({ err: error }, 'a notification to other processes was lost'))
  }

  const gather = (id: string): void => {
    gathered.add(id)
    if (timer || now) return
    const wait = paidUntil - performance.now()
    if (wait > 0) timer = setTimeout(send, wait, db.enginePool)
    else now = setImmediate(send, db.enginePool)
  }

  const unlisten = await db.listen(CHANNEL, (payload) => {
    const [from, text] = payload.split(' ')
    // An empty payload follows a reconnect: any event may have been missed.
    if (from !== self) emit(text?.split(',') ?? ['*'], false)
  })

  return {
    appended: (id, ended) => {
      gather(id)
      if (ended && endListeners.size > 0) ends.push({ executionId: id, status: ended })
      if (local) local.push(id)
      else {
        local = [id]
        setImmediate(emitLocal)
      }
    },
    onEnded: (listener) => {
      endListeners.add(listener)
      return () => endListeners.delete(listener)
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
