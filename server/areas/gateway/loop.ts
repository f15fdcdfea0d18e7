import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { msUntilFirstCheck } from '#platform/periodic-check'

/** Polls for due work and runs several items at once, so that a slow one does not block the others. */
export function makeWorkLoop<Due>(options: {
  what: string
  atOnce: number
  log: Logger
  find(most: number): Promise<Due[]>
  /** Returns false if there was nothing to do. */
  work(due: Due): Promise<boolean>
}) {
  const { what, atOnce, log, find, work } = options
  const running = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let again = false
  let stopped = false

  function start(due: Due): void {
    const one = work(due)
      .catch((error: unknown) => {
        log.warn({ err: error }, `${what}: an item failed`)
        return false
      })
      .then((done) => {
        running.delete(one)
        if (done) wake()
      })
    running.add(one)
  }

  async function look(): Promise<void> {
    do {
      again = false
      const free = atOnce - running.size
      if (free > 0) for (const due of await find(free)) start(due)
    } while (again && !stopped)
  }

  function wake(): void {
    if (stopped) return
    if (looking) {
      again = true
      return
    }
    clearTimeout(timer)
    looking = look()
      .catch((error: unknown) => log.warn({ err: error }, `${what}: could not check for work`))
      .finally(() => {
        looking = undefined
        if (!stopped) timer = setTimeout(wake, SECOND)
      })
  }

  return {
    wake,
    /** Schedules the first poll after a short delay. */
    start(): void {
      if (!stopped && !looking) timer ??= setTimeout(wake, msUntilFirstCheck())
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await looking
      await Promise.all(running)
    },
  }
}
