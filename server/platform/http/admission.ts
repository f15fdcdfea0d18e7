import { type Problem, problem } from '../errors.ts'
import type { RetryAfter } from './retry-after.ts'

// Limits how many requests are at work at once. The rest wait, and the tenants take turns, so that one tenant's flood
// delays mostly that tenant. Requests that would wait too long are refused at once, while refusing is still cheap.
// Without a limit every request would start, none would finish in time, and health checks would be answered after all
// of them.

/** A request that has not been read by then arrives slowly and uses no CPU. */
const READING_FOR_MS = 250
/**
 * A request that has been read uses the CPU or a database connection, even while it waits for a lock. Otherwise a
 * tenant whose requests wait for each other would take all connections: 600 simultaneous answers to one execution
 * raised a neighbour's p99 to 1.2 s. A verb that waits for something else gives up its place itself.
 */
const WORKING_FOR_MS = 2_000
/**
 * The maximum share of the places that one tenant gets while other tenants send requests. A neighbour's request shares
 * the CPU and the connections with the requests at work. Next to 420 requests of one tenant, a neighbour's p99 was
 * 207–481 ms with 8 of 64 places, 80–155 ms with 4 and 89–115 ms with 2. Next to ten lists of large versions it was
 * 177–224 ms, 224 ms and 84–90 ms. The tenant itself was answered as fast with 2 places as with 8: two requests keep a
 * CPU busy. A tenant that is alone gets all places.
 */
const SHARE_OF_ONE = 1 / 32
/**
 * The same share, including requests that wait for a shared commit. They use neither the CPU nor a connection, and the
 * more of them wait together, the cheaper each of them is. Next to a neighbour that sent 20 requests a second, a tenant
 * with 64 callers started 1,000–1,400 executions a second with 2 places for all of its requests, 1,900–2,900 with 8 and
 * 2,900–3,400 with 16 (5,000 alone). The neighbour's p50 was 3, 4 and 5 ms, and its p99 20–33, 28–38 and 26–34 ms. Under a
 * flood without rate limits, its p50 was 7 ms with 8 and 11 ms with 16.
 */
const SHARE_OF_ONE_WITH_WAITING = 1 / 8
/** The time after the last request of another tenant during which the service counts as shared. */
const SHARED_FOR_MS = 2_000

/**
 * While the service is shared, the place of a large request stays taken for twice the time it was at work: its garbage,
 * the execution and the database writes use the CPU after the response. Next to four executions with an input of 1 MB
 * each, a neighbour's p99 was 112–244 ms without a pause, 83–123 ms with a pause as long as the work, and 74–90 ms with
 * this one.
 */
const REST_FACTOR = 2
const MAX_REST_MS = 250

export type Turn = {
  leave(): void
  /** The request now waits for a commit that it shares with others. A large request keeps its place meanwhile. */
  awaitCommit(): void
  isRead: boolean
  /** The request or the response is large, so that reading or writing it takes long. */
  isLarge: boolean
}
type AtWork = { tenant: string; begunAt: number; awaitsCommit: boolean }
/** `all` includes the requests that wait for a shared commit; `busy` does not. */
type Count = { all: number; busy: number }
type Waiting = { begin(turn: Turn): void; refuse(error: Error): void }

const NONE: Readonly<Count> = { all: 0, busy: 0 }

export const overloaded = (retryAfterS: number): Problem =>
  problem(
    'overloaded',
    `The service is overloaded. Try again in ${retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`}.`,
    { retryAfterS },
  )

export function makeAdmission(maxAtWork: number, retryAfter: RetryAfter) {
  const maxBusyOfOne = Math.max(1, Math.floor(maxAtWork * SHARE_OF_ONE))
  const maxOfOne = Math.max(1, Math.floor(maxAtWork * SHARE_OF_ONE_WITH_WAITING))
  /** The maximum number of requests at work and waiting. A tenant that is alone may send this number at once. */
  const maxInside = 9 * maxAtWork
  const atWork = new Map<Turn, AtWork>()
  const atWorkOf = new Map<string, Count>()
  const waiting = new Map<string, Waiting[]>()
  let waitingCount = 0
  let sweep: NodeJS.Timeout | undefined

  let latest = { tenant: '', at: Number.NEGATIVE_INFINITY }
  /** The time of the last request of a tenant other than the latest tenant. */
  let othersAt = Number.NEGATIVE_INFINITY

  const see = (tenant: string): void => {
    if (tenant !== latest.tenant) othersAt = latest.at
    latest = { tenant, at: performance.now() }
  }
  /**
   * Considers who sends requests, not who waits: a flood that has fully arrived sends nothing more, while its
   * neighbours still do.
   */
  const isSharedBy = (tenant: string): boolean =>
    performance.now() - (tenant === latest.tenant ? othersAt : latest.at) < SHARED_FOR_MS

  const isWithinShare = (tenant: string): boolean => {
    const { all, busy } = atWorkOf.get(tenant) ?? NONE
    return all < maxOfOne && busy < maxBusyOfOne
  }

  const hasPlace = (tenant: string): boolean =>
    atWork.size < maxAtWork && (isWithinShare(tenant) || !isSharedBy(tenant))

  const begin = (tenant: string): Turn => {
    const turn: Turn = {
      isRead: false,
      isLarge: false,
      leave() {
        const left = atWork.get(turn)
        if (!left) return
        atWork.delete(turn)
        if (turn.isLarge && isSharedBy(tenant)) {
          setTimeout(giveBack, Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - left.begunAt)), left).unref()
          beginNext()
        } else giveBack(left)
      },
      awaitCommit() {
        const waits = atWork.get(turn)
        if (!waits || waits.awaitsCommit || turn.isLarge) return
        waits.awaitsCommit = true
        atWorkOf.get(tenant)!.busy -= 1
        beginNext()
      },
    }
    atWork.set(turn, { tenant, begunAt: performance.now(), awaitsCommit: false })
    const { all, busy } = atWorkOf.get(tenant) ?? NONE
    atWorkOf.set(tenant, { all: all + 1, busy: busy + 1 })
    return turn
  }

  const giveBack = ({ tenant, awaitsCommit }: AtWork): void => {
    const count = atWorkOf.get(tenant)!
    count.all -= 1
    if (!awaitsCommit) count.busy -= 1
    if (count.all === 0) atWorkOf.delete(tenant)
    beginNext()
  }

  const beginNext = (): void => {
    for (let tenant = nextTenant(); tenant !== undefined; tenant = nextTenant()) {
      const queue = waiting.get(tenant)!
      const next = queue.shift()!
      waitingCount -= 1
      // The tenant moves to the end of the line, so that every waiting tenant gets a place before this tenant gets
      // another.
      waiting.delete(tenant)
      if (queue.length > 0) waiting.set(tenant, queue)
      next.begin(begin(tenant))
    }
    if (waitingCount === 0) {
      clearInterval(sweep)
      sweep = undefined
    }
  }

  /** The scan is short: only a few of the waiting tenants can have used up their share. */
  const nextTenant = (): string | undefined => {
    if (atWork.size >= maxAtWork) return undefined
    for (const tenant of waiting.keys()) if (hasPlace(tenant)) return tenant
    return undefined
  }

  const passOverTheSlow = (): void => {
    const now = performance.now()
    for (const [turn, slow] of atWork) {
      if (slow.begunAt > now - READING_FOR_MS) break
      if (turn.isRead && slow.begunAt > now - WORKING_FOR_MS) continue
      atWork.delete(turn)
      giveBack(slow)
    }
  }

  const refusal = (): Problem => overloaded(retryAfter.retryAfterS())

  const longest = (): Waiting[] => [...waiting.values()].reduce((a, b) => (b.length > a.length ? b : a))

  const isFull = (): boolean => waitingCount > 0 && atWork.size + waitingCount >= maxInside

  /**
   * A tenant that is alone may take all places. When the places are taken, only a tenant with a longer queue than the
   * caller's makes room.
   */
  const hasNoRoomFor = (tenant: string): boolean =>
    isFull() && longest().length <= (waiting.get(tenant)?.length ?? 0) + 1

  return {
    hasNoRoomFor,
    /** Resolves when the request may start. Refuses with `overloaded`. */
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
