import { setTimeout as rest } from 'node:timers/promises'
import { LARGE_BYTES } from '../slices.ts'
import { makeWorkspaceTurns } from '../workspace-turns.ts'
import type { Answer } from './answer.ts'

/** The maximum number of large responses that are read and written at once, over all workspaces. */
const AT_ONCE = 2
const MAX_REST_MS = 250
/** Beyond this number, the workspace that was added first is forgotten. */
const MAX_WORKSPACES = 1_000

export type LargeAnswers = (
  workspaceId: string,
  operation: string,
  work: () => Promise<Answer | null>,
) => Promise<Answer | null>

/**
 * If the last response of an operation to a workspace was large, the operation runs one at a time for that workspace.
 * Ten simultaneous responses of two megabytes each delayed all requests by 200 ms. Only for reads in one transaction,
 * because other operations may wait for something else for a long time.
 */
export function makeLargeAnswers(): LargeAnswers {
  const atWork = makeWorkspaceTurns({ atOnce: AT_ONCE, perWorkspace: 1 })
  const ofWorkspace = makeWorkspaceTurns({ atOnce: Number.POSITIVE_INFINITY, perWorkspace: 1 })
  const large = new Map<string, Set<string>>()

  const note = (workspaceId: string, operation: string, isLarge: boolean): void => {
    const operations = large.get(workspaceId)
    if (isLarge) {
      if (operations) operations.add(operation)
      else large.set(workspaceId, new Set([operation]))
      if (large.size > MAX_WORKSPACES) large.delete(large.keys().next().value as string)
    } else if (operations?.delete(operation) && operations.size === 0) large.delete(workspaceId)
  }

  /**
   * The next large response of the workspace starts after a pause as long as this one took, so that others get the CPU.
   * The pause delays no other workspace.
   */
  const withRest = (workspaceId: string, work: () => Promise<Answer | null>): Promise<Answer | null> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer | null>()
    void ofWorkspace(workspaceId, async () => {
      let begunAt = 0
      const begin = (): Promise<Answer | null> => {
        begunAt = performance.now()
        return work()
      }
      await atWork(workspaceId, begin).then(resolve, reject)
      await rest(Math.min(MAX_REST_MS, performance.now() - begunAt))
    })
    return promise
  }

  return async (workspaceId, operation, work) => {
    const answer = await (large.get(workspaceId)?.has(operation) ? withRest(workspaceId, work) : work())
    note(workspaceId, operation, (answer?.body?.length ?? 0) > LARGE_BYTES)
    return answer
  }
}
