import type { Engine } from '#engine/ports'
import { SECOND } from '#platform/clock'

/** Looks at the executions in flight: soon while they end, seldom while they wait for people. */
export const LOOK_SOON = 3
export const LOOK_LATE = SECOND

/** Until something of ours was journalled or somebody calls, but not for ever: a hint can be lost. */
export function makeRest(engine: Pick<Engine, 'onAppended'>, isOurs: (executionId: string) => boolean) {
  let called = false
  let resolveNow = (): void => {}
  const wake = (): void => {
    called = true
    resolveNow()
  }
  const off = engine.onAppended((ids) => {
    if (!called && ids.some((id) => id === '*' || isOurs(id))) wake()
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
    off,
    /** Never shorter than a moment, so that what ends together is looked at together. */
    async rest(longest: number): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, LOOK_SOON))
      if (!called && longest > LOOK_SOON) await sleep(longest - LOOK_SOON)
      resolveNow = () => {}
      called = false
    },
  }
}
