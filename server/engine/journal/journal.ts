import type pg from 'pg'
import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import type { Append } from './batch.ts'
import { type Accepted, type Delivery, deliver, pause, refuseStarts, type Waiting } from './deliver.ts'
import { encode } from './encode.ts'
import { type Full, Unknown, Unsent } from './failures.ts'
import { takeBatch } from './take.ts'
import { makeWatched, type Watched } from './watched.ts'

// Group commit. Appends that come while statements are under way leave together in the next one. Each statement is one
// transaction, fenced by the worker's row; an execution has one append under way at a time, so it stands once in each.

export type Journal = {
  append(append: Append): Promise<Accepted>
  /** Appends waiting for a statement. */
  waiting(): number
  /** Milliseconds since the oldest statement under way was sent. */
  stalledFor(): number
  close(): Promise<void>
}

/** Two statements in flight: one is flushed to disk while the other is being built. */
const LANES = 2
/** Fewer appends are not worth a statement of their own. */
const MIN_SHARE = 8
const FULL_FOR = SECOND
const CONNECT_AGAIN = { first: 50, longest: SECOND }

export const makeJournal = (deps: {
  pool: pg.Pool
  workerId: string
  log: Logger
  watched?: Watched
  /** Something was put into the outbox of events. */
  onLeft?(): void
}): Journal => {
  const { pool, log, watched = makeWatched() } = deps
  let queue: Waiting[] = []
  let free = LANES
  let scheduled = false
  let closed: Error | undefined
  let closing = false
  let idle: (() => void) | undefined
  let full: { error: Full; until: number } | undefined
  const clients: pg.PoolClient[] = []
  const sentAt = new Map<pg.PoolClient, number>()

  const delivery: Delivery = {
    ...deps,
    watched,
    // Starts are refused at once for a while; then one of them tries again.
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

  /** Without a listener a connection that breaks between two statements would end the process. */
  const onBroken = (error: Error): void => log.debug({ err: error }, 'a connection of the journal broke')

  /** Others may need connections more than this process does; a name that is given up cannot take its own along. */
  const giveBack = (client: pg.PoolClient): void => {
    client.off('error', onBroken)
    client.release()
  }

  /** Undefined once the journal is closed. Until there is a connection nothing is sent, and so the fate of nothing is unknown. */
  const connect = async (): Promise<pg.PoolClient | undefined> => {
    for (let wait = CONNECT_AGAIN.first; !closing && !closed; wait = Math.min(CONNECT_AGAIN.longest, wait * 2)) {
      try {
        const client = await pool.connect()
        client.on('error', onBroken)
        return client
      } catch (error) {
        if (pool.ending) throw error
        log.warn({ err: error, waiting: queue.length }, 'the journal has no connection; it asks again')
        if (sentAt.size === 0)
          queue = refuseStarts(queue, new Unsent('no connection to the database', { cause: error }))
        await pause(wait)
      }
    }
    return undefined
  }

  /** `most` appends in its first statement; after that whatever waits. */
  const lane = async (most?: number): Promise<void> => {
    free -= 1
    let client: pg.PoolClient | undefined
    let batch: Waiting[] = []
    try {
      client = clients.pop() ?? (await connect())
      if (!client) return
      for (let share = most; queue.length > 0 && !closed; share = undefined) {
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
      if (free === LANES) idle?.()
    }
  }

  /**
   * Shared among the lanes that are free. In one statement, all would be answered together and go on together: the program would
   * wait while the database works, and the database while the program does.
   */
  const flush = (): void => {
    scheduled = false
    if (queue.length === 0 || free === 0 || closed) return
    const lanes = Math.max(1, Math.min(free, Math.floor(queue.length / MIN_SHARE)))
    const share = Math.ceil(queue.length / lanes)
    for (let n = 0; n < lanes; n += 1) void lane(share)
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed)
        if (full && append.start && performance.now() < full.until) return reject(full.error)
        queue.push({ encoded: encode(append), resolve, reject })
        if (!scheduled && free > 0) {
          scheduled = true
          setImmediate(flush)
        }
      }),
    waiting: () => queue.length,
    stalledFor: () => {
      let longest = 0
      for (const at of sentAt.values()) longest = Math.max(longest, performance.now() - at)
      return longest
    },
    close: async () => {
      closing = true
      while (free < LANES) await new Promise<void>((resolve) => (idle = resolve))
      closed ??= new Unknown('the journal is closed')
      for (const { reject } of queue.splice(0)) reject(closed)
      for (const client of clients.splice(0)) giveBack(client)
    },
  }
}
