import type { EffectDeps } from './effect-deps.ts'
import type { Live } from './live-types.ts'
import { NoLongerNeeded } from './platform-retry.ts'

/** Calls an area when it is the workspace's turn, and not at all if the execution is no longer on this worker. */
export const inArea = <T>(deps: EffectDeps, live: Live, work: () => Promise<T>): Promise<T> =>
  deps.areaCalls(live.owned.workspaceId, () => {
    if (live.isGone()) throw new NoLongerNeeded('the execution is no longer on this worker')
    return work()
  })
