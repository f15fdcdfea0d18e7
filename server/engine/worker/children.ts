import type { Database } from '#platform/db/pool'
import { childEnd } from '../end-reports.ts'
import { nudge } from '../nudges.ts'
import type { EnginePorts } from '../ports.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Store } from './store.ts'

/** The functions that find and cancel the children of the worker's executions. */
export const makeChildren = ({
  db,
  store,
  ports,
}: {
  db: Database
  store: Store
  ports: EnginePorts
}): Pick<EffectDeps, 'findChild' | 'cancelChild'> => ({
  findChild: async (workspaceId, executionId) => {
    const child = await store.findChild(workspaceId, executionId)
    if (!child) return undefined
    const { status } = child
    if (status === 'queued' || status === 'running' || status === 'waiting') return { ended: null }
    return { ended: await childEnd(ports.blobs, { ...child, status }) }
  },
  cancelChild: async (workspaceId, executionId) => {
    const reason = 'its parent no longer waits for it'
    await store.signal(workspaceId, executionId, 'cancel', { type: 'cancel', by: null, reason })
    nudge(db, executionId)
  },
})
