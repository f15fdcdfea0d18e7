import { type Problem, problem } from '../errors.ts'
import type { RetryAfter } from './retry-after.ts'
import { makeTenantQueue } from './tenant-queue.ts'

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

/** How often the waiting requests are checked. */
const LOOK_EVERY_MS = 10

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
type Waiting = { begin(turn: Turn): void; refuse(error: Error): void; from: number }

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
  const waiting = makeTenantQueue<Waiting>()
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
    for (let next = takeNext(); next !== undefined; next = takeNext()) next.request.begin(begin(next.tenant))
    if (waiting.size() === 0) {
      clearInterval(sweep)
      sweep = undefined
    }
  }

  const takeNext = () => (atWork.size < maxAtWork ? waiting.take(hasPlace) : undefined)

  const passOverTheSlow = (): void => {
    const now = performance.now()
    for (const [turn, slow] of atWork) {
      if (slow.begunAt > now - READING_FOR_MS) break
      if (turn.isRead && slow.begunAt > now - WORKING_FOR_MS) continue
      atWork.delete(turn)
      giveBack(slow)
    }
  }

  /** Begins requests that have waited long enough, and those that slow requests left room for. */
  const look = (): void => {
    passOverTheSlow()
    beginNext()
  }

  const refusal = (): Problem => overloaded(retryAfter.retryAfterS())

  const isFull = (): boolean => waiting.size() > 0 && atWork.size + waiting.size() >= maxInside

  /**
   * A tenant that is alone may take all places. When the places are taken, only a tenant with a longer queue than the
   * caller's makes room.
   */
  const hasNoRoomFor = (tenant: string): boolean =>
    isFull() && waiting.lengthOfLongest() <= waiting.lengthOf(tenant) + 1

  return {
    hasNoRoomFor,
    isSharedBy,
    /**
     * Resolves when the request may start. Refuses with `overloaded`. If other tenants send requests, it starts after
     * `waitMs` at the earliest; later requests that need not wait start before it.
     */
    enter(tenant: string, waitMs = 0): Turn | Promise<Turn> {
      see(tenant)
      const pauseMs = isSharedBy(tenant) ? waitMs : 0
      if (pauseMs === 0 && hasPlace(tenant)) return begin(tenant)
      if (hasNoRoomFor(tenant)) throw refusal()
      if (isFull()) waiting.dropLast().refuse(refusal())
      return new Promise((resolve, reject) => {
        waiting.add(tenant, { begin: resolve, refuse: reject, from: performance.now() + pauseMs })
        sweep ??= setInterval(look, LOOK_EVERY_MS).unref()
      })
    },
    figures: () => ({ atWork: atWork.size, waiting: waiting.size() }),
  }
}

export type Admission = ReturnType<typeof makeAdmission>
