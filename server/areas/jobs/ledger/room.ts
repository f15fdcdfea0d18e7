// How much of a process the runs of each workspace may take.

const MAX_RUNS = 64
/** Runs of one workspace in one process: the jobs of others find room. The first of a workspace finds it always. */
const MAX_PER_WORKSPACE = 8
/** Runs of one workspace whose executions only wait take no room, up to this many: each is looked at every second. */
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

/** The workspaces of which no further run is taken up for now. */
export function workspacesWithoutRoom(runs: Iterable<DrivenRun>): string[] {
  const taken = takenBy(runs)
  const isFull = [...taken.values()].reduce((sum, count) => sum + count, 0) >= MAX_RUNS
  return [...taken].filter(([, count]) => count >= MAX_PER_WORKSPACE || (isFull && count > 0)).map(([id]) => id)
}
