import type { NodeAttempt } from './live-types.ts'
import type { Store } from './store.ts'

type UnstartedReport = { workspaceId: string; executionId: string; epoch: number; nodes: NodeAttempt[] }

/**
 * Nodes whose start was recorded at most and whose effects this worker did not start. The worker that continues them
 * receives a message.
 */
export function makeUnstartedReports(store: Store) {
  const known: UnstartedReport[] = []
  return {
    add: (one: UnstartedReport): void => void known.push(one),
    /** Sends the messages after all appends of the old identity have been answered. */
    async send(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve))
      for (let one = known[0]; one; one = known[0]) {
        for (const node of one.nodes) {
          const key = `not_begun:${node.nodePath}:${node.attempt}:${one.epoch}`
          const said = { type: 'not_begun' as const, ...node, epoch: one.epoch }
          await store.signal(one.workspaceId, one.executionId, key, said)
        }
        known.shift()
      }
    },
  }
}
