import type { Engine } from '#engine/ports'
import { SECOND } from '#platform/clock'

/**
 * The intervals in milliseconds for polling the executions in flight: short while they end in other processes, long
 * while hints report every end.
 */
export const POLL_SOON = 3
export const POLL_LATE = SECOND
/** Executions that end within this time in milliseconds are handled together. */
const GATHER_MS = 1

type EndListener = {
  isOurs(executionId: string): boolean
  succeeded(executionId: string): void
  /** An execution of this run may have changed in another way. */
  changed(): void
}

/** Sleeps until an execution of this run ends or `wake` is called, but not forever, because a hint can be lost. */
export function makeEndWaiter(engine: Pick<Engine, 'onAppended' | 'onEnded'>, heard: EndListener) {
  let called = false
  let resolveNow = (): void => {}
  const wake = (): void => {
    called = true
    resolveNow()
  }
  const offElsewhere = engine.onAppended((ids, here) => {
    if (here || !ids.some((id) => id === '*' || heard.isOurs(id))) return
    heard.changed()
    wake()
  })
  const offHere = engine.onEnded((ends) => {
    const ours = ends.filter(({ executionId }) => heard.isOurs(executionId))
    for (const { executionId, status } of ours) {
      if (status === 'succeeded') heard.succeeded(executionId)
      else heard.changed()
    }
    if (ours.length > 0) wake()
  })
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      resolveNow = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    wake,
    off(): void {
      offElsewhere()
      offHere()
    },
    /** Sleeps at least GATHER_MS, and at most `longest` milliseconds. */
    async wait(longest: number): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
      if (!called && longest > GATHER_MS) await sleep(longest - GATHER_MS)
      resolveNow = () => {}
      called = false
    },
  }
}
