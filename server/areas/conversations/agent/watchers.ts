import type { Database } from '#platform/db/pool'

// Requests that wait for an answer which another process gives, or which waits for its turn in the conversation. A hint wakes them;
// they ask the database in between only because a hint can be lost.

export const TURN_HINTS = 'assistant_turns'

export type Watchers = ReturnType<typeof makeWatchers>

export function makeWatchers(db: Pick<Database, 'listen'>) {
  const waiting = new Map<string, Set<() => void>>()
  const wake = (threadId: string): void => {
    // Without a payload anything may have happened.
    const woken = threadId === '' ? [...waiting.values()] : [waiting.get(threadId) ?? []]
    for (const all of woken) for (const go of [...all]) go()
  }
  // Where it cannot listen, watchers look again after their time.
  const listening = db.listen(TURN_HINTS, wake).catch(() => async () => {})

  return {
    /**
     * To be called before looking, so that what happens while one looks is not missed. The promise resolves with the next hint about the
     * conversation, or after that time.
     */
    next(threadId: string, ms: number): { woken: Promise<void>; cancel(): void } {
      const { promise, resolve } = Promise.withResolvers<void>()
      const all = waiting.get(threadId) ?? new Set()
      waiting.set(threadId, all)
      const end = (): void => {
        clearTimeout(timer)
        all.delete(end)
        if (all.size === 0 && waiting.get(threadId) === all) waiting.delete(threadId)
        resolve()
      }
      const timer = setTimeout(end, ms)
      all.add(end)
      return { woken: promise, cancel: end }
    },

    async stop(): Promise<void> {
      await (await listening)()
      wake('')
    },
  }
}
