import { type Problem, problem } from '../errors.ts'
import type { Patience } from './patience.ts'

// How many requests are worked on at once. The rest wait their turn, tenant by tenant, so that one tenant's flood delays
// mostly itself; requests that would wait too long are refused at once, while refusing is still cheap. Without a bound every
// request is begun, none is finished in time, and health is answered behind all of them.

/** A request that was not read by then comes slowly and uses no processor. */
const READING_FOR_MS = 250
/**
 * Once it was read, it uses the processor or a connection of the database, also while it waits for a lock. A tenant whose requests
 * wait for each other would otherwise take all connections: 600 answers to one execution at once took a neighbour's p99 to 1.2 s.
 * A verb that waits for something else leaves its place by itself.
 */
const WORKING_FOR_MS = 2_000
/**
 * The part of the places that one tenant has at most while others ask too. A neighbour's request shares the processor and the
 * connections with what is at work. Beside 420 requests of one tenant a neighbour's p99 was 207–481 ms with 8 of 64 places,
 * 80–155 ms with 4 and 89–115 ms with 2; beside ten lists of large versions 177–224 ms, 224 ms and 84–90 ms. The tenant itself was
 * answered as fast with 2 as with 8: a processor is busy with two requests. A tenant that is alone has all places.
 */
const SHARE_OF_ONE = 1 / 32
/** Others ask too for as long after the last request of one of them. */
const SHARED_FOR_MS = 2_000

/**
 * While others ask too, the place of a large request stays taken for twice as long as it was at work: what it leaves behind, such as
 * garbage, a run and writes of the database, uses the processor after its answer. Beside four runs with an input of 1 MB each a
 * neighbour's p99 was 112–244 ms without a rest, 83–123 ms with one as long as the work, and 74–90 ms with this one.
 */
const REST_FACTOR = 2
const MAX_REST_MS = 250

export type Turn = {
  leave(): void
  isRead: boolean
  /** What was sent or is answered takes long to read or to write. */
  isLarge: boolean
}
type AtWork = { tenant: string; begunAt: number }
type Waiting = { begin(turn: Turn): void; refuse(error: Error): void }

export const overloaded = (retryAfterS: number): Problem =>
  problem(
    'overloaded',
    `More is asked of the service than it can do. Try again in ${retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`}.`,
    { retryAfterS },
  )

export function makeAdmission(maxAtWork: number, patience: Patience) {
  const maxOfOne = Math.max(1, Math.floor(maxAtWork * SHARE_OF_ONE))
  /** At work and waiting together: a tenant that is alone may still ask for as many at once. */
  const maxInside = 9 * maxAtWork
  const atWork = new Map<Turn, AtWork>()
  const atWorkOf = new Map<string, number>()
  const waiting = new Map<string, Waiting[]>()
  let waitingCount = 0
  let sweep: NodeJS.Timeout | undefined

  let latest = { tenant: '', at: Number.NEGATIVE_INFINITY }
  /** When another tenant than the latest asked last. */
  let othersAt = Number.NEGATIVE_INFINITY

  const see = (tenant: string): void => {
    if (tenant !== latest.tenant) othersAt = latest.at
    latest = { tenant, at: performance.now() }
  }
  /** By who asked, not by who waits: a flood that has arrived asks nothing more while its neighbours go on asking. */
  const isSharedBy = (tenant: string): boolean =>
    performance.now() - (tenant === latest.tenant ? othersAt : latest.at) < SHARED_FOR_MS

  const hasPlace = (tenant: string): boolean =>
    atWork.size < maxAtWork && ((atWorkOf.get(tenant) ?? 0) < maxOfOne || !isSharedBy(tenant))

  const begin = (tenant: string): Turn => {
    const turn: Turn = {
      isRead: false,
      isLarge: false,
      leave() {
        const left = atWork.get(turn)
        if (!left) return
        atWork.delete(turn)
        if (turn.isLarge && isSharedBy(tenant)) {
          setTimeout(giveBack, Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - left.begunAt)), tenant).unref()
          beginNext()
        } else giveBack(tenant)
      },
    }
    atWork.set(turn, { tenant, begunAt: performance.now() })
    atWorkOf.set(tenant, (atWorkOf.get(tenant) ?? 0) + 1)
    return turn
  }

  const giveBack = (tenant: string): void => {
    const left = atWorkOf.get(tenant)! - 1
    if (left === 0) atWorkOf.delete(tenant)
    else atWorkOf.set(tenant, left)
    beginNext()
  }

  const beginNext = (): void => {
    for (let tenant = nextTenant(); tenant !== undefined; tenant = nextTenant()) {
      const queue = waiting.get(tenant)!
      const next = queue.shift()!
      waitingCount -= 1
      // To the end of the line, so that every tenant who waits has one begun before this one has another.
      waiting.delete(tenant)
      if (queue.length > 0) waiting.set(tenant, queue)
      next.begin(begin(tenant))
    }
    if (waitingCount === 0) {
      clearInterval(sweep)
      sweep = undefined
    }
  }

  /** Of the tenants that wait, at most a few have all the places of one. */
  const nextTenant = (): string | undefined => {
    if (atWork.size >= maxAtWork) return undefined
    for (const tenant of waiting.keys()) if (hasPlace(tenant)) return tenant
    return undefined
  }

  const passOverTheSlow = (): void => {
    const now = performance.now()
    for (const [turn, { tenant, begunAt }] of atWork) {
      if (begunAt > now - READING_FOR_MS) break
      if (turn.isRead && begunAt > now - WORKING_FOR_MS) continue
      atWork.delete(turn)
      giveBack(tenant)
    }
  }

  const refusal = (): Problem => overloaded(patience.retryAfterS())

  const longest = (): Waiting[] => [...waiting.values()].reduce((a, b) => (b.length > a.length ? b : a))

  const isFull = (): boolean => waitingCount > 0 && atWork.size + waitingCount >= maxInside

  /** A tenant alone may take all places. Where they are taken, only a tenant that waits more often than the asker makes room. */
  const hasNoRoomFor = (tenant: string): boolean =>
    isFull() && longest().length <= (waiting.get(tenant)?.length ?? 0) + 1

  return {
    hasNoRoomFor,
    /** Resolves when the request may be worked on. Refuses with `overloaded`. */
    enter(tenant: string): Turn | Promise<Turn> {
      see(tenant)
      if (hasPlace(tenant)) return begin(tenant)
      if (hasNoRoomFor(tenant)) throw refusal()
      if (isFull()) {
        longest().pop()!.refuse(refusal())
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
