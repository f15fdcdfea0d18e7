import type pg from 'pg'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { makeListener } from './listener.ts'

// Hints wake listeners that wait for a change: listeners of this process directly, listeners of other processes by
// NOTIFY. If a process ends, its unsent hints are lost, which only causes a delay.
//
// NOTIFY makes commits wait for each other, and each for the disk. Therefore only one transaction at a time sends its
// hints itself, so that they arrive with its commit. The hints of all other transactions are collected in the meantime
// and are sent after their commits, in one statement that does not wait for the disk. This gives 1.3 times the events
// per second of a NOTIFY in each transaction (median of eight alternating rounds on a busy machine).

export type Hint = readonly [channel: string, payload: string]

const NOTIFY = 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as hint (channel, payload)'
const NOTIFY_QUICKLY = NOTIFY.replace('select', "select set_config('synchronous_commit', 'off', true),")

/**
 * The maximum number of hints per channel. More are replaced by a single hint without a payload: anything may have
 * changed.
 */
const MAX_PER_CHANNEL = 150
const SENDER_LENGTH = newId().length

/** The part of a transaction that this file needs. */
type Sender = { send(sql: string, values: readonly unknown[]): void }

export type Hints = ReturnType<typeof makeHints>

export function makeHints(options: { pool: pg.Pool; url: string; log: Logger }) {
  const { pool, log } = options
  const self = newId()
  const gathered = new Map<string, Hint>()
  let sending: Promise<void> | undefined
  let takenAlong = false

  const listener = makeListener({
    url: options.url,
    log,
    // A payload starts with the id of its sender. Notifications from the database itself have no sender.
    received: (channel, text) => {
      if (text[SENDER_LENGTH] !== ':') listener.notify(channel, text)
      else if (!text.startsWith(self)) listener.notify(channel, text.slice(SENDER_LENGTH + 1))
    },
  })

  const valuesOf = (hints: Iterable<Hint>): [channels: string[], payloads: string[]] => {
    const leaving = [...Map.groupBy(hints, ([channel]) => channel)].flatMap(([channel, of]) =>
      of.length > MAX_PER_CHANNEL ? [[channel, ''] as const] : of,
    )
    return [leaving.map(([channel]) => channel), leaving.map(([, payload]) => `${self}:${payload}`)]
  }

  async function sendGathered(): Promise<void> {
    while (gathered.size > 0) {
      const values = valuesOf(gathered.values())
      gathered.clear()
      await pool
        .query({ name: 'hint', text: NOTIFY_QUICKLY, values })
        .catch((error: unknown) => log.debug({ err: error }, 'notifications to other processes were lost'))
    }
    sending = undefined
  }

  return {
    listen: listener.listen,
    reconnect: listener.reconnect,
    /**
     * Sends the hints as the last statement of the transaction, unless another transaction is doing so. If it returns
     * true, `arrived` must be called at the end of the transaction.
     */
    takeAlong(tx: Sender, hints: readonly Hint[]): boolean {
      if (hints.length === 0 || takenAlong || sending) return false
      takenAlong = true
      tx.send(NOTIFY, valuesOf(hints))
      return true
    },
    arrived(): void {
      takenAlong = false
      if (gathered.size > 0) sending = sendGathered()
    },
    /** Delivers hints whose transaction has committed. */
    give(hints: readonly Hint[], { othersKnow }: { othersKnow: boolean }): void {
      const distinct = new Map(hints.map((hint) => [hint.join(' '), hint]))
      for (const [channel, payload] of distinct.values()) listener.notify(channel, payload)
      if (othersKnow) return
      for (const [key, hint] of distinct) gathered.set(key, hint)
      if (gathered.size > 0 && !takenAlong) sending ??= sendGathered()
    },
    /** Resolves when all hints collected so far have been sent. */
    close: async (): Promise<void> => {
      await listener.close()
      await sending
    },
  }
}
