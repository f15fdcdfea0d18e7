import type { Database } from '#platform/db/pool'
import { childEnd } from '../end-reports.ts'
import { nudge } from '../nudges.ts'
import type { EnginePorts } from '../ports.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Store } from './store.ts'

const isLive = (status: string): status is 'queued' | 'running' | 'waiting' =>
  status === 'queued' || status === 'running' || status === 'waiting'

/** The functions that find and cancel the children of the worker's executions. */
export const makeChildren = ({
  db,
  store,
  ports,
}: {
  db: Database
  store: Store
  ports: EnginePorts
}): Pick<EffectDeps, 'findChild' | 'cancelChild' | 'cancelChildrenUnder' | 'hasEnded'> => {
  const cancelChild: EffectDeps['cancelChild'] = async (workspaceId, executionId) => {
    const reason = 'its parent no longer waits for it'
    await store.signal(workspaceId, executionId, 'cancel', { type: 'cancel', by: null, reason })
    nudge(db, executionId)
  }
  return {
    findChild: async (workspaceId, executionId) => {
      const child = await store.findChild(workspaceId, executionId)
      if (!child) return undefined
      const { status } = child
      return { ended: isLive(status) ? null : await childEnd(ports.blobs, { ...child, status }) }
    },
    cancelChild,
    cancelChildrenUnder: async (workspaceId, executionId, path) => {
      for (const child of await store.childrenUnder(workspaceId, executionId, path))
        await cancelChild(workspaceId, child)
    },
    hasEnded: async (workspaceId, executionId) => {
      const found = await store.findChild(workspaceId, executionId)
      return !found || !isLive(found.status)
    },
  }
}
