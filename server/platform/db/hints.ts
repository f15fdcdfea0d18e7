import type pg from 'pg'
import type { Logger } from '../log.ts'

// NOTIFY makes commits wait for each other, each for the disk. So hints leave after the commit, on their own, all that have
// gathered in one statement that does not wait for the disk: 1.3 times the events a second, median of eight alternating
// rounds on a busy machine, where NOTIFY was a statement more. One that is lost with the process costs a delay, nothing else.

export type Hint = readonly [channel: string, payload: string]

export function makeHinter(pool: pg.Pool, log: Logger) {
  const gathered = new Map<string, Hint>()
  let sending: Promise<void> | undefined

  async function send(): Promise<void> {
    while (gathered.size > 0) {
      const hints = [...gathered.values()]
      gathered.clear()
      await pool
        .query({
          name: 'hint',
          text: `select pg_notify(channel, payload), set_config('synchronous_commit', 'off', true)
            from unnest($1::text[], $2::text[]) as hint (channel, payload)`,
          values: [hints.map(([channel]) => channel), hints.map(([, payload]) => payload)],
        })
        .catch((error: unknown) => log.debug({ err: error }, 'hints were lost'))
    }
    sending = undefined
  }

  return {
    add(hints: readonly Hint[]): void {
      for (const hint of hints) gathered.set(hint.join(' '), hint)
      if (gathered.size > 0) sending ??= send()
    },
    /** Once everything gathered so far has been sent. */
    settled: async (): Promise<void> => sending,
  }
}
