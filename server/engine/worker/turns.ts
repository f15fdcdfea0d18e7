import { type Slices, slices } from '#platform/slices'
import type { Allowance } from '../interpreter/pass.ts'

// Decides which workspace computes when. Expressions are evaluated on the thread that answers requests. An execution
// with much to compute does it in slices, and between two slices other work has at least as much time as the slice
// took. Workspaces take turns.

/** A step takes 30 ns: 2 ms for one workspace and 6 ms for all workspaces, in one turn of the event loop. */
const WORKSPACE_STEPS = 70_000
const TURN_STEPS = 200_000
export type Turns = {
  /** Returns what this workspace may still compute in the current turn of the event loop. */
  now(workspaceId: string): Allowance
  /** Resolves in a later turn of the event loop, when it is the turn of the workspace. */
  next(workspaceId: string): Promise<void>
}

export const makeTurns = (queue: Slices = slices): Turns => {
  const used = new Map<string, Allowance>()

  const given = (): number => {
    let steps = 0
    for (const { left } of used.values()) steps += WORKSPACE_STEPS - left
    return steps
  }

  const now = (workspaceId: string): Allowance => {
    const known = used.get(workspaceId)
    if (known) return known
    if (used.size === 0) setImmediate(() => used.clear())
    const allowance = { left: used.size > 0 && given() >= TURN_STEPS ? 0 : WORKSPACE_STEPS }
    used.set(workspaceId, allowance)
    return allowance
  }

  return {
    now,
    next: async (workspaceId) => {
      await queue.next(workspaceId)
      used.delete(workspaceId)
    },
  }
}
