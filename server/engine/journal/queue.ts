import type pg from 'pg'
import { isConnectionLost, isNeverConnected } from '#platform/db/unavailable'
import type { Logger } from '#platform/log'
import { ENQUEUE, type StartRow } from './batch.ts'
import { queuedText } from './encode.ts'
import { Full, isFull, isPassing, isWeekSealed, Refused, Unknown, Unsent } from './failures.ts'
import { makePaced } from './paced.ts'
import { isOfWeek, makeWeekOpener } from './sealed-week.ts'
import { sinceOldest } from './stalled.ts'
import { takeBatch } from './take-batch.ts'

// Starts that no worker of this process can accept. They become rows that any worker can claim. Starts that arrive
// while a statement is running are sent together in the next one. Individually, each start cost a commit and a read
// of the queue (measured: twice the processor time of the execution itself).

export type QueuedStart = { workspaceId: string; executionId: string; start: StartRow }

export type StartQueue = {
  /** Returns true if this start inserted the row, or false if its id or idempotency key already exists. */
  add(start: QueuedStart): Promise<boolean>
  /** The number of starts that wait for a statement. */
  waiting(): number
  /** Milliseconds since the oldest running statement was sent. */
  stalledFor(): number
}

type Waiting = QueuedStart & { resolve(started: boolean): void; reject(error: Error): void }

const LANES = 2
const TRIES = 5

const sizeOf = ({ start }: QueuedStart) => ({ start, bytes: start.bytes ?? 0 })

export const makeStartQueue = (deps: { pool: pg.Pool; log: Logger }): StartQueue => {
  const { pool, log } = deps
  let queue: Waiting[] = []
  let scheduled = false
  const sentAt = new Set<{ at: number }>()
  const paced = makePaced()
  const weeks = makeWeekOpener(deps)

  const refuse = (batch: Waiting[], error: Error): void => {
    for (const waiting of batch) waiting.reject(error)
  }

  const send = async (batch: Waiting[], tries = 1): Promise<void> => {
    try {
      const { rows } = await pool.query<{ started: string[] }>({ ...ENQUEUE, values: [queuedText(batch)] })
      const started = new Set(rows[0]?.started)
      paced.add(
        batch.map(({ workspaceId, executionId, resolve }) => ({
          workspaceId,
          give: () => resolve(started.has(executionId)),
        })),
      )
    } catch (error) {
      if (isNeverConnected(error)) return refuse(batch, new Unsent('no connection to the database', { cause: error }))
      if (isConnectionLost(error)) return refuse(batch, new Unknown('the connection broke', { cause: error }))
      if (isFull(error)) return refuse(batch, new Full('the disk of the database is full', { cause: error }))
      if (isWeekSealed(error)) {
        weeks.open(error)
        const isUnsent = isOfWeek(error)
        const kept = batch.filter(({ executionId }) => !isUnsent(executionId))
        refuse(
          batch.filter(({ executionId }) => isUnsent(executionId)),
          new Unsent('the week is being opened', { cause: error }),
        )
        if (kept.length === 0) return
        if (kept.length < batch.length) return send(kept, tries)
      }
      if (isPassing(error) && tries < TRIES) return send(batch, tries + 1)
      if (batch.length === 1) {
        log.error({ err: error, execution_id: batch[0]?.executionId }, 'a start was refused')
        return refuse(batch, new Refused((error as Error).message))
      }
      // One bad row must not block the others: halve the batch until the bad row is alone.
      const half = batch.length >> 1
      await send(batch.slice(0, half))
      return send(batch.slice(half))
    }
  }

  const lane = async (): Promise<void> => {
    const sent = { at: performance.now() }
    sentAt.add(sent)
    while (queue.length > 0) {
      const { batch, left } = takeBatch(queue, sizeOf)
      queue = left
      sent.at = performance.now()
      await send(batch)
    }
    sentAt.delete(sent)
  }

  const flush = (): void => {
    scheduled = false
    if (queue.length > 0 && sentAt.size < LANES) void lane()
  }

  return {
    add: (start) =>
      new Promise((resolve, reject) => {
        queue.push({ ...start, resolve, reject })
        if (scheduled || sentAt.size === LANES) return
        scheduled = true
        setImmediate(flush)
      }),
    waiting: () => queue.length,
    stalledFor: () => sinceOldest([...sentAt].map(({ at }) => at)),
  }
}
