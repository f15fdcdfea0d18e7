import type pg from 'pg'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { makeListener } from './listener.ts'

// Hints wake listeners that wait for something to happen: listeners of this process at once, those of others by NOTIFY. One that
// is lost with the process costs a delay, nothing else.
//
// NOTIFY makes commits wait for each other, each for the disk. So one transaction at a time takes its hints along, which are
// then heard in the moment of its commit; those of all others gather meanwhile and leave after their commits, in one
// statement that waits for no disk (1.3 times the events a second, median of eight alternating rounds on a busy machine,
// where NOTIFY was a statement of each transaction).

export type Hint = readonly [channel: string, payload: string]

const NOTIFY = 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as hint (channel, payload)'
const NOTIFY_QUICKLY = NOTIFY.replace('select', "select set_config('synchronous_commit', 'off', true),")

/** More of one channel leave as a single hint without a payload: anything may have happened. */
const MAX_PER_CHANNEL = 150
const SENDER_LENGTH = newId().length

/** The part of a transaction that is needed here. */
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
    // The sender says so first; what the database itself sends has no sender.
    received: (channel, text) => {
      if (text[SENDER_LENGTH] !== ':') listener.tell(channel, text)
      else if (!text.startsWith(self)) listener.tell(channel, text.slice(SENDER_LENGTH + 1))
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
        .catch((error: unknown) => log.debug({ err: error }, 'hints were lost'))
    }
    sending = undefined
  }

  return {
    listen: listener.listen,
    reconnect: listener.reconnect,
    /** As its last statement, unless another transaction does so now. Then `arrived` must be called at its end. */
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
    /** What they speak of has happened. */
    give(hints: readonly Hint[], { othersKnow }: { othersKnow: boolean }): void {
      const distinct = new Map(hints.map((hint) => [hint.join(' '), hint]))
      for (const [channel, payload] of distinct.values()) listener.tell(channel, payload)
      if (othersKnow) return
      for (const [key, hint] of distinct) gathered.set(key, hint)
      if (gathered.size > 0 && !takenAlong) sending ??= sendGathered()
    },
    /** Ends once everything gathered so far has been sent. */
    close: async (): Promise<void> => {
      await listener.close()
      await sending
    },
  }
}
