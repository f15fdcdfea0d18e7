import type pg from 'pg'
import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import type { Append } from './batch.ts'
import { type Accepted, type Delivery, deliver, pause, refuseStarts, type Waiting } from './deliver.ts'
import { encode } from './encode.ts'
import { type EventWorkspaces, makeEventWorkspaces } from './event-workspaces.ts'
import { type Full, Unknown, Unsent } from './failures.ts'
import { makePaced } from './paced.ts'
import { makeWeekOpener } from './sealed-week.ts'
import { sinceOldest } from './stalled.ts'
import { takeBatch } from './take-batch.ts'

// Group commit. Appends that arrive while statements are running are sent together in the next statement. Each
// statement is one transaction, fenced by the worker's row. An execution has only one append in progress, so it
// occurs at most once per statement.

export type Journal = {
  append(append: Append): Promise<Accepted>
  /** The number of appends that wait for a statement. */
  waiting(): number
  /** Milliseconds since the oldest running statement was sent. */
  stalledFor(): number
  close(): Promise<void>
}

/** Two statements run at a time: one is flushed to disk while the other is being built. */
const LANES = 2
/** The minimum number of appends that justifies another statement. */
const MIN_SHARE = 8
const FULL_FOR = SECOND
const CONNECT_AGAIN = { first: 50, longest: SECOND }

export const makeJournal = (deps: {
  pool: pg.Pool
  workerId: string
  log: Logger
  watched?: EventWorkspaces
  /** Called when events were added to the outbox. */
  onLeft?(): void
}): Journal => {
  const { pool, log, watched: eventWorkspaces = makeEventWorkspaces() } = deps
  let queue: Waiting[] = []
  let free = LANES
  let scheduled = false
  let closed: Error | undefined
  const closing = new AbortController()
  const { signal: end } = closing
  let idle: (() => void) | undefined
  let full: { error: Full; until: number } | undefined
  const clients: pg.PoolClient[] = []
  const sentAt = new Map<pg.PoolClient, number>()
  const paced = makePaced()

  const delivery: Delivery = {
    ...deps,
    eventWorkspaces,
    paced,
    weeks: makeWeekOpener(deps),
    end,
    // Starts are refused immediately for FULL_FOR. Then the next start is tried.
    onFull(error) {
      full = { error, until: performance.now() + FULL_FOR }
      queue = refuseStarts(queue, error)
    },
    onWritten() {
      full = undefined
    },
  }

  const take = (most?: number): Waiting[] => {
    const { batch, left } = takeBatch(queue, ({ encoded }) => encoded, most)
    queue = left
    return batch
  }

  /** Without a listener, a connection that breaks between two statements would end the process. */
  const onBroken = (error: Error): void => log.debug({ err: error }, 'a connection of the journal broke')

  /**
   * Returns a connection to the pool. Connections may be scarce, so the journal of a worker identity that was given
   * up must not keep its own.
   */
  const giveBack = (client: pg.PoolClient): void => {
    client.off('error', onBroken)
    client.release()
  }

  /** Returns undefined if the journal is closed. Nothing is sent without a connection, so no outcome is unknown. */
  const connect = async (): Promise<pg.PoolClient | undefined> => {
    for (let wait = CONNECT_AGAIN.first; !end.aborted && !closed; wait = Math.min(CONNECT_AGAIN.longest, wait * 2)) {
      try {
        const client = await pool.connect()
        client.on('error', onBroken)
        return client
      } catch (error) {
        if (pool.ending) throw error
        log.warn({ err: error, waiting: queue.length }, 'the journal has no connection; it tries again')
        if (sentAt.size === 0)
          queue = refuseStarts(queue, new Unsent('no connection to the database', { cause: error }))
        await pause(wait, end)
      }
    }
    return undefined
  }

  /**
   * The first statement has at most `most` appends; each later statement takes everything that waits. While executions
   * of an earlier statement wait for their answer, none is sent: their next appends are about to come, and with smaller
   * statements the database took a fifth more CPU time.
   */
  const lane = async (most?: number): Promise<void> => {
    free -= 1
    let client: pg.PoolClient | undefined
    let batch: Waiting[] = []
    try {
      client = clients.pop() ?? (await connect())
      if (!client) return
      for (let share = most; queue.length > 0 && !closed && !paced.isGiving(); share = undefined) {
        batch = take(share)
        sentAt.set(client, performance.now())
        await deliver(delivery, client, batch)
        batch = []
      }
      if (closed) giveBack(client)
      else clients.push(client)
    } catch (error) {
      client?.release(error as Error)
      const unknown = new Unknown('the connection to the database broke', { cause: error })
      closed = unknown
      for (const waiting of [...batch, ...queue]) waiting.reject(unknown)
      queue = []
      for (const left of clients.splice(0)) giveBack(left)
    } finally {
      if (client) sentAt.delete(client)
      free += 1
      if (client && queue.length > 0) scheduleFlush()
      if (free === LANES) idle?.()
    }
  }

  /**
   * Divides the queue among the free lanes. With a single statement, all executions would be answered and continue
   * together: the process would be idle while the database works, and the database while the process works.
   */
  const flush = (): void => {
    scheduled = false
    if (queue.length === 0 || free === 0 || closed) return
    if (paced.isGiving()) {
      scheduleFlush()
      return
    }
    const lanes = Math.max(1, Math.min(free, Math.floor(queue.length / MIN_SHARE)))
    const share = Math.ceil(queue.length / lanes)
    for (let n = 0; n < lanes; n += 1) void lane(share)
  }

  const scheduleFlush = (): void => {
    if (scheduled || free === 0) return
    scheduled = true
    setImmediate(flush)
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed)
        if (full && append.start && performance.now() < full.until) return reject(full.error)
        queue.push({ encoded: encode(append), resolve, reject })
        scheduleFlush()
      }),
    waiting: () => queue.length,
    stalledFor: () => sinceOldest(sentAt.values()),
    close: async () => {
      closing.abort()
      while (free < LANES) await new Promise<void>((resolve) => (idle = resolve))
      paced.flush()
      closed ??= new Unknown('the journal is closed')
      for (const { reject } of queue.splice(0)) reject(closed)
      for (const client of clients.splice(0)) giveBack(client)
    },
  }
}
