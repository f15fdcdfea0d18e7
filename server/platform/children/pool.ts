// A pool of child processes with a maximum size, shared fairly between workspaces. A child is reused only for a caller
// with the same key, and it ends after some time without use.

import { makeFairQueue } from '#platform/sandbox/queue'

export type PooledChild = {
  /** False once the child has ended. */
  readonly usable: boolean
  end(): void
  onEnd(listener: () => void): void
}

export type Lease<C> = {
  child: C
  /** Returns the child to the pool. A child that is not clean is ended. */
  giveBack(options: { clean: boolean }): void
}

export type ChildPool<C> = {
  /** Undefined if too many callers wait. Rejects if the signal aborts first, or if no child can be started. */
  lease(workspaceId: string, key: string, signal: AbortSignal): Promise<Lease<C> | undefined>
  readonly live: number
  close(): Promise<void>
}

type PoolOptions<C> = {
  size: number
  start(key: string): C
  idleMs?: number
  usesPerChild?: number
}
type Idle<C> = { child: C; key: string; uses: number; timer: NodeJS.Timeout }

const IDLE_MS = 20_000
const USES_PER_CHILD = 100
const MAX_WAITING = 1_000
/**
 * A workspace whose recent use of children (older use counts less) exceeds this time cannot use the reserved places.
 */
const QUIET_MS = 10_000
const MAX_WAITING_PER_WORKSPACE = 200

export function makeChildPool<C extends PooledChild>(options: PoolOptions<C>): ChildPool<C> {
  const { size, start, idleMs = IDLE_MS, usesPerChild = USES_PER_CHILD } = options
  // Callers queue for places; a place is the right to have one child at work. One workspace gets at most a quarter of
  // the places, and a quarter is reserved for workspaces that have none. Otherwise slow servers of several workspaces
  // could occupy all places for as long as they take.
  const places = makeFairQueue<number>({
    perKey: Math.max(1, Math.floor(size / 4)),
    waiting: MAX_WAITING,
    waitingPerKey: MAX_WAITING_PER_WORKSPACE,
    ...(size > 1 && { kept: { workers: Math.max(1, Math.floor(size / 4)), recentMs: QUIET_MS } }),
  })
  for (let place = 0; place < size; place += 1) places.offer(place)
  const live = new Set<C>()
  /** The child that has been idle longest comes first. */
  const idle: Idle<C>[] = []
  let closed = false

  const leaveIdle = (entry: Idle<C>): void => {
    clearTimeout(entry.timer)
    const at = idle.indexOf(entry)
    if (at !== -1) idle.splice(at, 1)
  }
  const begin = (key: string): C => {
    const oldest = idle[0]
    if (live.size >= size && oldest) {
      leaveIdle(oldest)
      oldest.child.end()
    }
    const child = start(key)
    live.add(child)
    child.onEnd(() => {
      live.delete(child)
      const entry = idle.find((one) => one.child === child)
      if (entry) leaveIdle(entry)
    })
    return child
  }
  const rest = (child: C, key: string, uses: number): void => {
    const entry: Idle<C> = {
      child,
      key,
      uses,
      timer: setTimeout(() => {
        leaveIdle(entry)
        child.end()
      }, idleMs).unref(),
    }
    idle.push(entry)
  }

  return {
    get live() {
      return live.size
    },
    async lease(workspaceId, key, signal) {
      const taken = closed ? { refused: 'full' as const } : await places.take(workspaceId, { signal })
      if ('refused' in taken) return undefined
      const since = performance.now()
      const leavePlace = (): void => {
        places.release(workspaceId, performance.now() - since)
        places.offer(taken.worker)
      }
      const known = idle.find((entry) => entry.key === key && entry.child.usable)
      if (known) leaveIdle(known)
      let child: C
      try {
        child = known?.child ?? begin(key)
      } catch (error) {
        leavePlace()
        throw error
      }
      const uses = (known?.uses ?? 0) + 1
      let given = false
      return {
        child,
        giveBack({ clean }) {
          if (given) return
          given = true
          if (clean && child.usable && uses < usesPerChild && !closed) rest(child, key, uses)
          else child.end()
          leavePlace()
        },
      }
    },
    async close() {
      closed = true
      places.close()
      for (const entry of [...idle]) leaveIdle(entry)
      const ends = [...live].map((child) => new Promise<void>((resolve) => child.onEnd(resolve)))
      for (const child of live) child.end()
      await Promise.all(ends)
    },
  }
}
