// Limits the share of a process that the runs of each workspace may use.

const MAX_RUNS = 64
/**
 * The maximum number of runs of one workspace in one process, so that other workspaces find room. The first run of a
 * workspace always finds room.
 */
const MAX_PER_WORKSPACE = 8
/**
 * Runs of one workspace whose executions only wait do not count, up to this number. Each of them is polled every
 * second.
 */
const MAX_WAITING_PER_WORKSPACE = 64

export type DrivenRun = { workspaceId: string; waits: boolean }

function takenBy(runs: Iterable<DrivenRun>): Map<string, number> {
  const all = new Map<string, { busy: number; waiting: number }>()
  for (const { workspaceId, waits } of runs) {
    const counts = all.get(workspaceId) ?? { busy: 0, waiting: 0 }
    counts[waits ? 'waiting' : 'busy'] += 1
    all.set(workspaceId, counts)
  }
  return new Map(
    [...all].map(([id, { busy, waiting }]) => [id, busy + Math.max(0, waiting - MAX_WAITING_PER_WORKSPACE)]),
  )
}

/** Returns the workspaces that can currently start no further run. */
export function workspacesAtLimit(runs: Iterable<DrivenRun>): string[] {
  const taken = takenBy(runs)
  const isFull = [...taken.values()].reduce((sum, count) => sum + count, 0) >= MAX_RUNS
  return [...taken].filter(([, count]) => count >= MAX_PER_WORKSPACE || (isFull && count > 0)).map(([id]) => id)
}
