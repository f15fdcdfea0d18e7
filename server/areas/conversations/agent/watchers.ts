import type { Database } from '#platform/db/pool'

// Requests that wait for an answer from another process, or for earlier messages of the conversation. A hint wakes
// them. They also poll the database, only because a hint can be lost.

export const TURN_HINTS = 'assistant_turns'

export type Watchers = ReturnType<typeof makeWatchers>

export function makeWatchers(db: Pick<Database, 'listen'>) {
  const waiting = new Map<string, Set<() => void>>()
  const wake = (threadId: string): void => {
    // A hint without a payload can be about any conversation.
    const woken = threadId === '' ? [...waiting.values()] : [waiting.get(threadId) ?? []]
    for (const all of woken) for (const go of [...all]) go()
  }
  // If listening fails, watchers only poll.
  const listening = db.listen(TURN_HINTS, wake).catch(() => async () => {})

  return {
    /**
     * Call this before reading the state, so that a change during the read is not missed. The promise resolves with
     * the next hint about the conversation, or after `ms`.
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
