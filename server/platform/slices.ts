// There is one event loop, and all requests share it. Long work that cannot be divided, such as parsing a megabyte of
// JSON, is done in slices: one per turn of the event loop. Workspaces take turns, and after a longer slice other work
// gets at least the same time.

/** After a slice of at least `from` milliseconds, the event loop is left to other work for `times` that duration. */
const RESTS = [
  { from: 20, times: 4 },
  { from: 5, times: 2 },
  { from: 2, times: 1 },
]
const MAX_REST_MS = 250

const restAfter = (took: number): number =>
  Math.min(MAX_REST_MS, took * (RESTS.find(({ from }) => took >= from)?.times ?? 0))

export type Slices = {
  /**
   * Resolves in a later turn of the event loop, when it is the workspace's turn. The slice is the code that follows
   * immediately.
   */
  next(workspaceId: string): Promise<void>
}

export const makeSlices = (): Slices => {
  const waiting = new Map<string, (() => void)[]>()
  let isScheduled = false

  /** Starts one slice of the workspace that has waited longest. Its work runs immediately, in microtasks. */
  const slice = (): void => {
    const [workspaceId, queue] = waiting.entries().next().value as [string, (() => void)[]]
    const begin = queue.shift() as () => void
    waiting.delete(workspaceId)
    if (queue.length > 0) waiting.set(workspaceId, queue)
    const begunAt = performance.now()
    begin()
    setImmediate(() => {
      const rest = restAfter(performance.now() - begunAt)
      if (rest === 0) goOn()
      else setTimeout(goOn, rest)
    })
  }
  const goOn = (): void => {
    if (waiting.size === 0) isScheduled = false
    else setImmediate(slice)
  }

  return {
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

/** The slices of this process. */
export const slices = makeSlices()

/** Smaller data is read and written without slices, which takes a millisecond or two. */
export const LARGE_BYTES = 128 * 1024
