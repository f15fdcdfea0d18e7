// Who gets the next free worker: the workspaces in turn, not the callers in a row.

export type FairQueue<W> = {
  /** A worker, or undefined when too many wait. Rejects when the signal aborts first. */
  take(key: string, signal?: AbortSignal): Promise<W | undefined>
  /** One call of `key` has ended, whatever became of its worker. */
  release(key: string): void
  /** A worker is free. */
  offer(worker: W): void
  /** Everybody who waits gets nothing. */
  turnAway(): void
  close(): void
}

type Limits = { workers: number; perKey: number; waiting: number; waitingPerKey: number }
type Waiter<W> = { give(worker: W | undefined): void }

export function makeFairQueue<W>(limits: Limits): FairQueue<W> {
  const idle: W[] = []
  /** In the order of their turn: a key that was served goes to the end. */
  const waiting = new Map<string, Waiter<W>[]>()
  const running = new Map<string, number>()
  let waitingCount = 0

  const dispatch = (): void => {
    while (idle.length > 0) {
      const key = [...waiting.keys()].find((candidate) => (running.get(candidate) ?? 0) < limits.perKey)
      if (key === undefined) return
      const line = waiting.get(key) as Waiter<W>[]
      const waiter = line.shift() as Waiter<W>
      waiting.delete(key)
      if (line.length > 0) waiting.set(key, line)
      waitingCount -= 1
      running.set(key, (running.get(key) ?? 0) + 1)
      waiter.give(idle.pop())
    }
  }

  const leave = (key: string, waiter: Waiter<W>): boolean => {
    const line = waiting.get(key)
    const place = line?.indexOf(waiter) ?? -1
    if (!line || place === -1) return false
    line.splice(place, 1)
    if (line.length === 0) waiting.delete(key)
    waitingCount -= 1
    return true
  }

  const turnAway = (): void => {
    for (const line of waiting.values()) for (const waiter of line) waiter.give(undefined)
    waiting.clear()
    waitingCount = 0
  }

  return {
    turnAway,
    take(key, signal) {
      signal?.throwIfAborted()
      const line = waiting.get(key) ?? []
      if (waitingCount >= limits.waiting || line.length >= limits.waitingPerKey) return Promise.resolve(undefined)
      const { promise, resolve, reject } = Promise.withResolvers<W | undefined>()
      const waiter: Waiter<W> = {
        give: (worker) => {
          signal?.removeEventListener('abort', abort)
          resolve(worker)
        },
      }
      const abort = (): void => {
        if (leave(key, waiter)) reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      line.push(waiter)
      waiting.set(key, line)
      waitingCount += 1
      dispatch()
      return promise
    },
    release(key) {
      const count = (running.get(key) ?? 1) - 1
      if (count > 0) running.set(key, count)
      else running.delete(key)
      dispatch()
    },
    offer(worker) {
      idle.push(worker)
      dispatch()
    },
    close() {
      turnAway()
      idle.length = 0
    },
  }
}
