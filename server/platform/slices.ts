// There is one event loop, and everybody waits for it. Work that takes long and cannot be cut, such as reading a megabyte of JSON,
// is done in slices: one in a turn of the loop, workspaces by turns, and between two slices everybody else has at least as much time
// as the slice took.

/** After a slice of so many milliseconds the loop is left to the others for so many times as long. */
const RESTS = [
  { from: 20, times: 4 },
  { from: 5, times: 2 },
  { from: 2, times: 1 },
]
const MAX_REST_MS = 250

const restAfter = (took: number): number =>
  Math.min(MAX_REST_MS, took * (RESTS.find(({ from }) => took >= from)?.times ?? 0))

export type Slices = {
  /** Resolves in a later turn of the event loop, when it is the workspace's turn. The slice is what follows at once. */
  next(workspaceId: string): Promise<void>
}

export const makeSlices = (): Slices => {
  const waiting = new Map<string, (() => void)[]>()
  let isScheduled = false

  /** One slice of the workspace that has waited longest. What it does follows at once, in microtasks. */
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

/** Those of this process. */
export const slices = makeSlices()

/** Less than this is read and written at once: it takes a millisecond or two. */
export const LARGE_BYTES = 128 * 1024
