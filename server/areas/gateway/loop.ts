import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import { msUntilFirstCheck } from '#platform/periodic-check'

/**
 * Polls for due work and runs several items at once, so that a slow one does not block the others. One workspace gets
 * only some of the places, so that its slow items do not block other workspaces.
 */
export function makeWorkLoop<Due extends { workspace_id: string }>(options: {
  what: string
  atOnce: number
  /** The maximum number of items of one workspace at once. */
  ofOne: number
  log: Logger
  /** `full`: the workspaces that have all the places they may have. Items of others are found again, if not started. */
  find(most: number, full: string[]): Promise<Due[]>
  /** Returns false if there was nothing to do. */
  work(due: Due): Promise<boolean>
}) {
  const { what, atOnce, ofOne, log, find, work } = options
  const running = new Set<Promise<void>>()
  const runningIn = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let again = false
  let stopped = false

  const countIn = (workspaceId: string, change: 1 | -1): void => {
    const count = (runningIn.get(workspaceId) ?? 0) + change
    if (count === 0) runningIn.delete(workspaceId)
    else runningIn.set(workspaceId, count)
  }
  const isFull = (workspaceId: string): boolean => (runningIn.get(workspaceId) ?? 0) >= ofOne

  function start(due: Due): void {
    countIn(due.workspace_id, 1)
    const one = work(due)
      .catch((error: unknown) => {
        log.warn({ err: error }, `${what}: an item failed`)
        return false
      })
      .then((done) => {
        running.delete(one)
        countIn(due.workspace_id, -1)
        if (done) wake()
      })
    running.add(one)
  }

  async function look(): Promise<void> {
    do {
      again = false
      const free = atOnce - running.size
      if (free <= 0) continue
      for (const due of await find(free, [...runningIn.keys()].filter(isFull))) {
        if (!isFull(due.workspace_id)) start(due)
        // The next query leaves this workspace out.
        else again = true
      }
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
