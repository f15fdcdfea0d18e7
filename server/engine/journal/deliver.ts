import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { isConnectionLost } from '#platform/db/unavailable'
import type { Logger } from '#platform/log'
import type { Encoded } from './batch.ts'
import { commitOf } from './encode.ts'
import type { EventWorkspaces } from './event-workspaces.ts'
import { Fenced, Full, isFull, isPassing, isWeekSealed, Refused, Unsent } from './failures.ts'
import type { Paced } from './paced.ts'
import { isOfWeek, type WeekOpener } from './sealed-week.ts'

// Sends one batch on one connection until each of its appends is accepted or refused.

/**
 * `moved`: the row was updated (for parking: only if no message had arrived). `started`: this append inserted the
 * row.
 */
export type Accepted = { moved: boolean; started: boolean }
export type Waiting = { encoded: Encoded; resolve(accepted: Accepted): void; reject(error: Error): void }

export type Delivery = {
  workerId: string
  log: Logger
  eventWorkspaces: EventWorkspaces
  paced: Paced
  weeks: WeekOpener
  /** Aborted when the journal is being closed. */
  end: AbortSignal
  /** Called when events were added to the outbox. */
  onLeft?(): void
  /** Called when the database has no disk space. The starts of this batch are refused with this error. */
  onFull(error: Full): void
  onWritten(): void
}

type Answer = { alive: number; generation: number; moved: string[]; started: string[] }

/**
 * How often a journal that is being closed sends a batch. A conflict is over by then, but a disk may stay full for
 * hours. Nobody waits for these appends: their executions have left this worker, and the next one continues them.
 */
const TRIES_WHEN_CLOSING = 3

/** Waits, but no longer than until `end`. */
export const pause = (ms: number, end: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal: end }).catch(() => {})

/**
 * Refuses only starts. Appends of running executions must be recorded, however long it takes; a start can be refused.
 */
export const refuseStarts = (
  batch: Waiting[],
  because: Error,
  isRefused: (executionId: string) => boolean = () => true,
): Waiting[] =>
  batch.filter(({ encoded: { start, executionId }, reject }) => {
    if (!start || !isRefused(executionId)) return true
    reject(because)
    return false
  })

/** Throws if the connection is lost. It is then unknown whether the batch was written. */
export async function deliver(delivery: Delivery, client: pg.PoolClient, batch: Waiting[], tries = 0): Promise<void> {
  const { log } = delivery
  let answer: Answer
  try {
    answer = await send(delivery, client, batch)
  } catch (error) {
    if (isConnectionLost(error)) throw error
    if (isWeekSealed(error)) {
      delivery.weeks.open(error)
      const kept = refuseStarts(batch, new Unsent('the week is being opened', { cause: error }), isOfWeek(error))
      if (kept.length === 0) return
      if (kept.length < batch.length) return deliver(delivery, client, kept, tries)
    }
    if (isPassing(error)) {
      if (tries === 0) log.warn({ err: error }, 'a batch of journal entries was not accepted and is sent again')
      const kept = isFull(error) ? withoutStarts(delivery, batch, error) : batch
      if (kept.length === 0) return
      if (delivery.end.aborted && tries + 1 >= TRIES_WHEN_CLOSING) return giveUp(kept, error)
      await pause(Math.min(1000, 5 * 2 ** tries), delivery.end)
      return deliver(delivery, client, kept, tries + 1)
    }
    if (batch.length === 1) {
      log.error({ err: error, execution_id: batch[0]?.encoded.executionId }, 'a journal entry was refused')
      return batch[0]?.reject(new Refused((error as Error).message))
    }
    // One bad row must not block the others: halve the batch until the bad row is alone.
    const half = batch.length >> 1
    await deliver(delivery, client, batch.slice(0, half))
    return deliver(delivery, client, batch.slice(half))
  }
  delivery.onWritten()
  settle(delivery.paced, batch, answer)
}

async function send(delivery: Delivery, client: pg.PoolClient, batch: Waiting[]): Promise<Answer> {
  const { workerId, eventWorkspaces } = delivery
  for (;;) {
    const { leaves, ...statement } = commitOf(
      workerId,
      batch.map((waiting) => waiting.encoded),
      eventWorkspaces,
    )
    const known = eventWorkspaces.generation()
    const { rows } = await client.query<Answer>(statement)
    const answer = rows[0] as Answer
    if (answer.alive > 0 || answer.generation === known) {
      if (leaves && answer.alive > 0) delivery.onLeft?.()
      return answer
    }
    // Nothing was written, because the statement was made with an old list of workspaces that send events to
    // destinations.
    await eventWorkspaces.reload(client)
  }
}

function withoutStarts(delivery: Delivery, batch: Waiting[], cause: unknown): Waiting[] {
  const error = new Full('the disk of the database is full', { cause })
  delivery.onFull(error)
  return refuseStarts(batch, error)
}

function giveUp(batch: Waiting[], cause: unknown): void {
  const error = new Fenced('the journal is closed', { cause })
  for (const { reject } of batch) reject(error)
}

function settle(paced: Paced, batch: Waiting[], answer: Answer): void {
  if (answer.alive === 0) {
    for (const waiting of batch) waiting.reject(new Fenced('this worker was declared dead'))
    return
  }
  const moved = new Set(answer.moved)
  const started = new Set(answer.started)
  paced.add(
    batch.map(({ encoded: { workspaceId, executionId }, resolve }) => ({
      workspaceId,
      give: () => resolve({ moved: moved.has(executionId), started: started.has(executionId) }),
    })),
  )
}
