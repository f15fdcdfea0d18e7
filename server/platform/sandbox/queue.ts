// Decides which call gets the next free worker. Workspaces take turns: the one with the least recent use comes first,
// and one that has used its minute waits. Calls have a level: 0 for short calls, or calls not yet known to be long. A
// worker accepts calls of its own level first, then shorter ones, never longer ones. So the workers of level 0 become
// free within moments, regardless of what else is running.

import { type Budgets, makeBudgets } from './budget.ts'

export type Refusal = 'full' | 'late' | 'over_budget'
export type QueueResult<W> = { worker: W } | { refused: Refusal }

export type FairQueue<W> = {
  /** Rejects if the signal aborts first. */
  take(
    key: string,
    options?: { level?: number; waitMs?: number; signal?: AbortSignal | undefined },
  ): Promise<QueueResult<W>>
  /** Records that a call of `key` has ended, and its CPU time, regardless of what happened to its worker. */
  release(key: string, usedMs: number): void
  /** Offers a free worker for calls up to this level. */
  offer(worker: W, level?: number): void
  /** Checks whether a worker is free for a call of this level. */
  hasFree(level: number): boolean
  /** Refuses all waiting calls. */
  turnAway(): void
  close(): void
}

type Limits = {
  perKey: number
  waiting: number
  waitingPerKey: number
  /** The last free workers are reserved for keys that have nothing running and little recent use. */
  kept?: { workers: number; recentMs: number }
}
type Waiter<W> = { level: number; settle(taken: QueueResult<W>): void }
type Idle<W> = { worker: W; level: number }

/** The minimum and maximum pause before waiting calls are checked for a refilled budget. */
const MIN_PAUSE_MS = 10
const MAX_PAUSE_MS = 5_000

export function makeFairQueue<W>(limits: Limits, budgets: Budgets = makeBudgets()): FairQueue<W> {
  let idle: Idle<W>[] = []
  /** In the order of service: of two keys with the same use, the one served longer ago comes first. */
  const waiting = new Map<string, Waiter<W>[]>()
  let waitingCount = 0
  let timer: NodeJS.Timeout | undefined

  const remove = (key: string, waiter: Waiter<W>): boolean => {
    const line = waiting.get(key)
    const place = line?.indexOf(waiter) ?? -1
    if (!line || place === -1) return false
    line.splice(place, 1)
    if (line.length === 0) waiting.delete(key)
    waitingCount -= 1
    return true
  }

  /** Returns the key with the least use that may start now and has a call for this worker. */
  const next = (workerLevel: number): [string, Waiter<W>] | undefined => {
    const { kept } = limits
    const onlyQuiet = kept !== undefined && idle.length <= kept.workers
    const isQuiet = (key: string): boolean => budgets.running(key) === 0 && budgets.recent(key) < kept!.recentMs
    const ready = [...waiting.keys()].filter(
      (key) => budgets.running(key) < limits.perKey && budgets.delay(key) === 0 && (!onlyQuiet || isQuiet(key)),
    )
    for (let level = workerLevel; level >= 0; level -= 1) {
      let best: [string, Waiter<W>] | undefined
      let least = Number.POSITIVE_INFINITY
      for (const key of ready) {
        const waiter = waiting.get(key)!.find((candidate) => candidate.level === level)
        const used = waiter === undefined ? Number.POSITIVE_INFINITY : budgets.recent(key)
        if (waiter === undefined || used >= least) continue
        best = [key, waiter]
        least = used
      }
      if (best) return best
    }
    return undefined
  }

  const dispatch = (): void => {
    // The worker with the lowest level comes first, which leaves the others for calls that only they accept.
    idle.sort((a, b) => a.level - b.level)
    for (const free of [...idle]) {
      const found = waiting.size === 0 ? undefined : next(free.level)
      if (found === undefined) continue
      const [key, waiter] = found
      remove(key, waiter)
      const line = waiting.get(key)
      if (line) {
        waiting.delete(key)
        waiting.set(key, line)
      }
      idle = idle.filter((one) => one !== free)
      budgets.begin(key)
      waiter.settle({ worker: free.worker })
    }
    lookAgain()
  }

  /** Schedules the next check, because nothing else wakes calls that wait for their budget. */
  const lookAgain = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (idle.length === 0) return
    const delays = [...waiting.keys()].map((key) => budgets.delay(key)).filter((delay) => delay > 0)
    if (delays.length === 0) return
    timer = setTimeout(dispatch, Math.max(MIN_PAUSE_MS, Math.min(MAX_PAUSE_MS, ...delays)))
  }

  const turnAway = (): void => {
    for (const line of [...waiting.values()]) for (const waiter of [...line]) waiter.settle({ refused: 'full' })
    waiting.clear()
    waitingCount = 0
  }

  return {
    turnAway,
    take(key, { level = 0, waitMs, signal } = {}) {
      signal?.throwIfAborted()
      const line = waiting.get(key) ?? []
      if (waitingCount >= limits.waiting || line.length >= limits.waitingPerKey)
        return Promise.resolve({ refused: 'full' })
      const { promise, resolve, reject } = Promise.withResolvers<QueueResult<W>>()
      const waiter: Waiter<W> = {
        level,
        settle: (taken) => {
          clearTimeout(late)
          signal?.removeEventListener('abort', abort)
          resolve(taken)
        },
      }
      const abort = (): void => {
        clearTimeout(late)
        if (remove(key, waiter)) reject(signal?.reason)
      }
      const late =
        waitMs === undefined
          ? undefined
          : setTimeout(() => {
              if (remove(key, waiter)) waiter.settle({ refused: budgets.delay(key) > 0 ? 'over_budget' : 'late' })
            }, waitMs)
      signal?.addEventListener('abort', abort, { once: true })
      line.push(waiter)
      waiting.set(key, line)
      waitingCount += 1
      dispatch()
      return promise
    },
    release(key, usedMs) {
      budgets.end(key, usedMs)
      dispatch()
    },
    offer(worker, level = 0) {
      idle.push({ worker, level })
      dispatch()
    },
    hasFree: (level) => idle.some((one) => one.level >= level),
    close() {
      turnAway()
      clearTimeout(timer)
      idle = []
    },
  }
}
