import { SECOND } from '#platform/clock'
import type { Live } from './live-types.ts'
import type { LoadedBytes } from './memory-limit.ts'
import { ROOM_FOR_SUSPECTS, suspicion } from './suspects.ts'

export type WorkerLimits = {
  /** The maximum number of executions in memory. */
  capacity: number
  /** The maximum number of running executions of one workspace, if others run few (`makeLiveExecutions`). */
  perWorkspace: number
  /** The number of executions claimed from one workspace before the next workspace has its turn. */
  claimPerWorkspace: number
}

// 64 callers that start five-node executions as fast as they are acknowledged keep about 400 of them running. A lower
// limit sends every second start through the queue, which costs three times as much.
export const defaultLimits: WorkerLimits = { capacity: 1024, perWorkspace: 512, claimPerWorkspace: 16 }

const DRAIN = 8 * SECOND

/**
 * The executions that a worker has in memory. A workspace may run at most as many as there are places left for others,
 * so a few workspaces whose executions wait for slow responses cannot take all places.
 */
export function makeLiveExecutions(limits: WorkerLimits) {
  const all = new Map<string, Live>()
  const perWorkspace = new Map<string, number>()
  let emptied: (() => void) | undefined

  const runningIn = (workspaceId: string): number => perWorkspace.get(workspaceId) ?? 0

  const room = (): number => limits.capacity - all.size
  /** The maximum number for one workspace now, with this number of places left. */
  const shareOf = (left: number): number => Math.min(limits.perWorkspace, left)

  const abandonAll = (): void => {
    for (const live of [...all.values()]) live.abandon()
  }

  return {
    all: all as ReadonlyMap<string, Live>,
    add(live: Live): void {
      const { executionId, workspaceId } = live.owned
      all.set(executionId, live)
      perWorkspace.set(workspaceId, runningIn(workspaceId) + 1)
    },
    /** The map may already contain another `Live` of the same execution. */
    remove(live: Live): void {
      const { executionId, workspaceId } = live.owned
      if (all.get(executionId) === live) {
        all.delete(executionId)
        const running = runningIn(workspaceId) - 1
        if (running <= 0) perWorkspace.delete(workspaceId)
        else perWorkspace.set(workspaceId, running)
      }
      if (all.size === 0) emptied?.()
    },
    room,
    shareOf,
    // Counted each time: a stored count that is wrong once would keep all suspects waiting forever.
    suspectRoom: (): number =>
      [...all.values()].reduce((room, { owned }) => room - suspicion(owned.crashes), ROOM_FOR_SUSPECTS),
    someAtLimit: (): boolean => {
      const share = shareOf(room())
      return [...perWorkspace.values()].some((running) => running >= share)
    },
    hasRoomFor: (workspaceId: string): boolean => runningIn(workspaceId) < shareOf(room()),
    loaded: (): LoadedBytes[] =>
      [...all.values()].map(({ owned }) => ({ workspaceId: owned.workspaceId, bytes: owned.loadedBytes })),
    abandonAll,
    /** Releases all executions so that another worker can continue them. Those that take too long are abandoned. */
    async drain(): Promise<void> {
      const empty = new Promise<void>((resolve) => {
        emptied = resolve
        if (all.size === 0) resolve()
      })
      for (const live of all.values()) live.release()
      const deadline = new Promise<void>((resolve) => {
        setTimeout(resolve, DRAIN).unref()
      })
      await Promise.race([empty, deadline])
      abandonAll()
    },
  }
}
