import type { Allowance } from '../interpreter/pass.ts'

// Who computes when. Expressions are evaluated on the thread that answers requests; an execution with much to compute does
// it in slices, and between two slices everybody else has at least as much time as the slice took. Workspaces take turns.

/** Steps of 30 ns: 2 ms for one workspace, 6 ms for all of them, in one turn of the event loop. */
const WORKSPACE_STEPS = 70_000
const TURN_STEPS = 200_000
/** After a longer slice the loop is left to the others for as long as the slice took. */
const SHORT_MS = 2
/** Work that cannot be cut into slices, such as the check of a large input: after it the others have most of the time. */
const LONG_MS = 20
const MAX_REST_MS = 250

export type Turns = {
  /** What this workspace may still compute in the present turn of the event loop. */
  now(workspaceId: string): Allowance
  /** Resolves in a later turn of the event loop, when it is the workspace's turn. */
  next(workspaceId: string): Promise<void>
}

export const makeTurns = (): Turns => {
  const used = new Map<string, Allowance>()
  const waiting = new Map<string, (() => void)[]>()
  let isScheduled = false

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

  /** One slice of the workspace that has waited longest. What it does follows at once, in microtasks. */
  const slice = (): void => {
    const [workspaceId, queue] = waiting.entries().next().value as [string, (() => void)[]]
    const begin = queue.shift() as () => void
    waiting.delete(workspaceId)
    if (queue.length > 0) waiting.set(workspaceId, queue)
    used.delete(workspaceId)
    const begunAt = performance.now()
    begin()
    setImmediate(() => {
      const took = performance.now() - begunAt
      if (waiting.size === 0) isScheduled = false
      else if (took < SHORT_MS) setImmediate(slice)
      else setTimeout(slice, Math.min(MAX_REST_MS, took < LONG_MS ? took : 4 * took))
    })
  }

  return {
    now,
    next: (workspaceId) =>
      new Promise((resolve) => {
        const queue = waiting.get(workspaceId) ?? []
        queue.push(resolve)
        waiting.set(workspaceId, queue)
        if (isScheduled) return
        isScheduled = true
        setImmediate(slice)
      }),
  }
}
