import type pg from 'pg'
import { isConnectionLost } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { type Append, COMMIT, COMMIT_WITH_STARTS, type Encoded } from './batch.ts'
import { encode, valuesOf } from './encode.ts'

// Group commit. Appends that come while statements are under way leave together in the next one. Each statement is one
// transaction, fenced by the worker's row; an execution has one append under way at a time, so it stands once in each.

/** The worker was declared dead: nothing was written, nor will be. */
export class Fenced extends Error {}
/** The connection broke while the statement was under way: it may have been written or not. */
export class Unknown extends Error {}
/** The database refuses this one append, whatever else it is sent with. */
export class Refused extends Error {}

/** `moved`: the row was updated (a parking one only if no message had come). `started`: its row is the one inserted. */
export type Accepted = { moved: boolean; started: boolean }

export type Journal = {
  append(append: Append): Promise<Accepted>
  /** Appends waiting for a statement. */
  waiting(): number
  close(): Promise<void>
}

type Waiting = { encoded: Encoded; resolve(accepted: Accepted): void; reject(error: Error): void }
type Answer = { alive: number; moved: string[]; started: string[] }

const MAX_BATCH = 256
const MAX_BATCH_BYTES = 4 * 1024 * 1024
/** Two statements in flight: one is flushed to disk while the other is being built. */
const LANES = 2

/** Not this batch's fault and nothing was written: it is sent again as it is. */
const isPassing = (error: unknown): boolean =>
  /^(40|53|55P03|57014|58|25006)/.test((error as { code?: string }).code ?? '')

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const makeJournal = (deps: { pool: pg.Pool; workerId: string; log: Logger }): Journal => {
  const { pool, workerId, log } = deps
  let queue: Waiting[] = []
  let free = LANES
  let scheduled = false
  let closed: Error | undefined
  let idle: (() => void) | undefined
  const clients: pg.PoolClient[] = []

  const send = async (client: pg.PoolClient, batch: Waiting[]): Promise<Answer> => {
    const { hasStarts, values } = valuesOf(
      workerId,
      batch.map((waiting) => waiting.encoded),
    )
    const result = await client.query<Answer>({ ...(hasStarts ? COMMIT_WITH_STARTS : COMMIT), values })
    return result.rows[0] as Answer
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
      if (isPassing(error)) {
        if (tries === 0) log.warn({ err: error }, 'a batch was not accepted and is sent again')
        await pause(Math.min(1000, 5 * 2 ** tries))
        return commit(client, batch, tries + 1)
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
    settle(batch, answer)
  }

  const take = (): Waiting[] => {
    let bytes = 0
    let count = 0
    while (count < queue.length && count < MAX_BATCH && bytes < MAX_BATCH_BYTES) {
      bytes += queue[count]?.encoded.bytes ?? 0
      count += 1
    }
    const batch = queue.slice(0, count)
    queue = queue.slice(count)
    return batch
  }

  /** Without a listener a connection that breaks between two statements would end the process. */
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect()
    client.on('error', (error) => log.debug({ err: error }, 'a connection of the journal broke'))
    return client
  }

  const lane = async (): Promise<void> => {
    free -= 1
    let client: pg.PoolClient | undefined
    let batch: Waiting[] = []
    try {
      client = clients.pop() ?? (await connect())
      while (queue.length > 0 && !closed) {
        batch = take()
        await commit(client, batch)
        batch = []
      }
      if (closed) client.release(true)
      else clients.push(client)
    } catch (error) {
      client?.release(error as Error)
      const unknown = new Unknown('the connection to the database broke', { cause: error })
      closed = unknown
      for (const waiting of [...batch, ...queue]) waiting.reject(unknown)
      queue = []
      for (const left of clients.splice(0)) left.release(true)
    } finally {
      free += 1
      if (free === LANES) idle?.()
    }
  }

  const flush = (): void => {
    scheduled = false
    if (queue.length > 0 && free > 0 && !closed) void lane()
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed)
        queue.push({ encoded: encode(append), resolve, reject })
        if (!scheduled && free > 0) {
          scheduled = true
          setImmediate(flush)
        }
      }),
    waiting: () => queue.length,
    close: async () => {
      while (free < LANES) await new Promise<void>((resolve) => (idle = resolve))
      closed ??= new Unknown('the journal is closed')
      for (const client of clients.splice(0)) client.release(true)
    },
  }
}
