import { type Problem, problem } from '../errors.ts'
import type { Patience } from './patience.ts'

// How many requests are worked on at once. The rest wait their turn, tenant by tenant, so that one tenant's flood delays
// mostly itself; what would wait too long is refused at once, while refusing is still cheap. Without a bound every request
// is begun, none is finished in time, and health is answered behind all of them.

/** Whoever has not answered by then waits for something else (a long poll, a provider, a slow upload) and uses no processor. */
const AT_WORK_FOR_MS = 250

export type Turn = { leave(): void }
type Waiting = { begin(turn: Turn): void; refuse(error: Error): void }

export function makeAdmission(mostAtWork: number, patience: Patience) {
  const mostWaiting = 8 * mostAtWork
  const atWork = new Map<Turn, number>()
  const waiting = new Map<string, Waiting[]>()
  let waitingCount = 0
  let sweep: NodeJS.Timeout | undefined

  const begin = (): Turn => {
    const turn: Turn = {
      leave() {
        if (atWork.delete(turn)) beginNext()
      },
    }
    atWork.set(turn, performance.now())
    return turn
  }

  const beginNext = (): void => {
    while (waitingCount > 0 && atWork.size < mostAtWork) {
      const [tenant, queue] = waiting.entries().next().value!
      const next = queue.shift()!
      waitingCount -= 1
      // To the end of the line, so that every tenant who waits has one begun before this one has another.
      waiting.delete(tenant)
      if (queue.length > 0) waiting.set(tenant, queue)
      next.begin(begin())
    }
    if (waitingCount === 0) {
      clearInterval(sweep)
      sweep = undefined
    }
  }

  const passOverTheSlow = (): void => {
    const before = performance.now() - AT_WORK_FOR_MS
    for (const [turn, begunAt] of atWork) {
      if (begunAt > before) break
      atWork.delete(turn)
    }
    beginNext()
  }

  const overloaded = (): Problem => {
    const retryAfterS = patience.retryAfterS()
    return problem(
      'overloaded',
      `More is asked of the service than it can do. Try again in ${retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`}.`,
      { retryAfterS },
    )
  }

  const longest = (): Waiting[] => [...waiting.values()].reduce((a, b) => (b.length > a.length ? b : a))

  /** A tenant alone may take all places. Where they are taken, only whoever waits more often than the asker makes room. */
  const hasNoRoomFor = (tenant: string): boolean =>
    waitingCount >= mostWaiting && longest().length <= (waiting.get(tenant)?.length ?? 0) + 1

  return {
    hasNoRoomFor,
    overloaded,
    /** Resolves when the request may be worked on. Refuses with `overloaded`. */
    enter(tenant: string): Turn | Promise<Turn> {
      if (waitingCount === 0 && atWork.size < mostAtWork) return begin()
      if (hasNoRoomFor(tenant)) throw overloaded()
      if (waitingCount >= mostWaiting) {
        longest().pop()!.refuse(overloaded())
        waitingCount -= 1
      }
      return new Promise((resolve, reject) => {
        const queue = waiting.get(tenant) ?? []
        queue.push({ begin: resolve, refuse: reject })
        waiting.set(tenant, queue)
        waitingCount += 1
        sweep ??= setInterval(passOverTheSlow, 50).unref()
      })
    },
    figures: () => ({ atWork: atWork.size, waiting: waitingCount }),
  }
}

export type Admission = ReturnType<typeof makeAdmission>
