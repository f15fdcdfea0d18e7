import type pg from 'pg'
import { SECOND } from '#platform/clock'
import { isConnectionLost } from '#platform/db/unavailable'
import type { Logger } from '#platform/log'
import type { Append, Encoded } from './batch.ts'
import { commitOf, encode } from './encode.ts'
import { isSealed, openWeek } from './sealed.ts'
import { takeBatch } from './take.ts'
import { makeWatched, type Watched } from './watched.ts'

// Group commit. Appends that come while statements are under way leave together in the next one. Each statement is one
// transaction, fenced by the worker's row; an execution has one append under way at a time, so it stands once in each.

/** The worker was declared dead: nothing was written, nor will be. */
export class Fenced extends Error {}
/** The connection broke while the statement was under way: it may have been written or not. */
export class Unknown extends Error {}
/** There was no connection to send it on: nothing was written. What is under way is sent when there is one, a start is not begun. */
export class Unsent extends Error {}
/** The database refuses this one append, whatever else it is sent with. */
export class Refused extends Error {}
/** The database has no room left. Nothing was written; what is under way is sent again, a start is not begun. */
export class Full extends Error {}

/** `moved`: the row was updated (a parking one only if no message had come). `started`: its row is the one inserted. */
export type Accepted = { moved: boolean; started: boolean }

export type Journal = {
  append(append: Append): Promise<Accepted>
  /** Appends waiting for a statement. */
  waiting(): number
  /** Milliseconds since the oldest statement under way was sent. */
  stalledFor(): number
  close(): Promise<void>
}

type Waiting = { encoded: Encoded; resolve(accepted: Accepted): void; reject(error: Error): void }
type Answer = { alive: number; generation: number; moved: string[]; started: string[] }

/** Two statements in flight: one is flushed to disk while the other is being built. */
const LANES = 2
/** Fewer appends are not worth a statement of their own. */
const MIN_SHARE = 8
const FULL_FOR = SECOND
const CONNECT_AGAIN = { first: 50, longest: SECOND }

/** Not this batch's fault and nothing was written: it is sent again as it is. */
export const isPassing = (error: unknown): boolean =>
  /^(40|53|55P03|57014|58)/.test((error as { code?: string }).code ?? '')

export const isFull = (error: unknown): boolean => (error as { code?: string }).code === '53100'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const makeJournal = (deps: {
  pool: pg.Pool
  workerId: string
  log: Logger
  watched?: Watched
  /** Something was put into the outbox of events. */
  onLeft?(): void
}): Journal => {
  const { pool, workerId, log, watched = makeWatched() } = deps
  let queue: Waiting[] = []
  let free = LANES
  let scheduled = false
  let closed: Error | undefined
  let closing = false
  let idle: (() => void) | undefined
  let full: { error: Full; until: number } | undefined
  const clients: pg.PoolClient[] = []
  const sentAt = new Map<pg.PoolClient, number>()

  const send = async (client: pg.PoolClient, batch: Waiting[]): Promise<Answer> => {
    for (;;) {
      const { leaves, ...statement } = commitOf(
        workerId,
        batch.map((waiting) => waiting.encoded),
        watched,
      )
      const known = watched.generation()
      const { rows } = await client.query<Answer>(statement)
      const answer = rows[0] as Answer
      if (answer.alive > 0 || answer.generation === known) {
        if (leaves && answer.alive > 0) deps.onLeft?.()
        return answer
      }
      // Nothing was written: it was made with an old list of the workspaces whose events leave.
      await watched.reload(client)
    }
  }

  /** What is under way must be recorded, however long the disk stays full; what has not begun need not begin. */
  const refuseStarts = (batch: Waiting[], because: Error): Waiting[] =>
    batch.filter(({ encoded, reject }) => {
      if (encoded.start) reject(because)
      return !encoded.start
    })

  /** Starts are refused at once for a while; then one of them tries again. */
  const beFull = (batch: Waiting[], cause: unknown): Waiting[] => {
    const error = new Full('the disk of the database is full', { cause })
    full = { error, until: performance.now() + FULL_FOR }
    queue = refuseStarts(queue, error)
    return refuseStarts(batch, error)
  }

  const settle = (batch: Waiting[], answer: Answer): void => {
    if (answer.alive === 0) {
      for (const waiting of batch) waiting.reject(new Fenced('this worker was declared dead'))
      return
    }
    const moved = answer.moved.length > 0 ? new Set(answer.moved) : undefined
    const started = answer.started.length > 0 ? new Set(answer.started) : undefined
    for (const { encoded, resolve } of batch) {
      resolve({ moved: moved?.has(encoded.executionId) ?? false, started: started?.has(encoded.executionId) ?? false })
    }
  }

  const commit = async (client: pg.PoolClient, batch: Waiting[], tries = 0): Promise<void> => {
    let answer: Answer
    try {
      answer = await send(client, batch)
    } catch (error) {
      if (isConnectionLost(error)) throw error
      if (isSealed(error)) {
        await openWeek(client, error)
        return commit(client, batch, tries + 1)
      }
      if (isPassing(error)) {
        if (tries === 0) log.warn({ err: error }, 'a batch was not accepted and is sent again')
        const kept = isFull(error) ? beFull(batch, error) : batch
        if (kept.length === 0) return
        await pause(Math.min(1000, 5 * 2 ** tries))
        return commit(client, kept, tries + 1)
      }
      if (batch.length === 1) {
        log.error({ err: error, execution_id: batch[0]?.encoded.executionId }, 'an append was refused')
        return batch[0]?.reject(new Refused((error as Error).message))
      }
      // One bad row must stop nobody else: halve until it stands alone.
      const half = batch.length >> 1
      await commit(client, batch.slice(0, half))
      return commit(client, batch.slice(half))
    }
    full = undefined
    settle(batch, answer)
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
        await commit(client, batch)
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
