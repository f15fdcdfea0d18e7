import { SECOND } from '#platform/clock'
import type { Logger } from '#platform/log'
import type { DatabaseClock } from '../clock.ts'
import type { Claims } from './claims.ts'
import type { Tick } from './heartbeat-store.ts'
import type { Identities } from './identity.ts'
import type { Live } from './live-types.ts'
import { makeReaper } from './reaper.ts'
import type { StallWatch } from './stall-watch.ts'
import type { Store } from './store.ts'

export const TICK = SECOND / 2
const STRAYS_EVERY = 8
/** The maximum number of executions that one statement wakes, in total and per workspace. */
const WAKE = 1000
const WAKE_OF_ONE = 250

/** Runs twice a second: sends a heartbeat, checks the other workers, and finds work that a lost hint left behind. */
export const startTicking = async (deps: {
  store: Store
  log: Logger
  clock: DatabaseClock
  identities: Identities
  claims: Claims
  liveExecutions: ReadonlyMap<string, Live>
  stallWatch: Pick<StallWatch, 'reset'>
  reportEnds(): void
  decideSoon(workspaceId: string, workflowId: string): void
  /** Milliseconds between two ticks. */
  every: number
}): Promise<{
  /** Returns the time of the last heartbeat at which this worker was alive, on the monotonic clock. */
  beatAt(): number
  stop(): Promise<void>
}> => {
  const { store, log, clock, identities, claims, liveExecutions } = deps
  const reaper = makeReaper()
  let strays = new Set<string>()
  let ticks = 0
  let beatAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  /** Releases strays to the queue: rows that name this worker, but were unknown to it twice in a row. */
  const releaseStrays = async (workerId: string): Promise<void> => {
    const unknown = (await store.ownedBy(workerId)).filter((id) => !liveExecutions.has(id) && !claims.isArriving(id))
    const again = unknown.filter((id) => strays.has(id))
    strays = new Set(unknown)
    if (again.length === 0) return
    log.warn({ executions: again.length }, 'executions without a worker go back to the queue')
    await store.releaseStrays(workerId, again)
  }

  const buryDead = async (beats: readonly [string, number][], self: string): Promise<number> => {
    let released = 0
    for (const dead of reaper.look(beats, self)) {
      const found = await store.declareDead(dead, true)
      log.warn({ worker_id: dead, released: found }, 'a worker stopped; other workers continue its executions')
      released += found
    }
    return released
  }

  let waking: Promise<void> | undefined
  let wokenLast = '00000000-0000-0000-0000-000000000000'

  /**
   * Wakes executions in portions until none is due. It runs beside the ticks, so that heartbeats continue however
   * many are due.
   */
  const wakeAll = async (): Promise<void> => {
    try {
      while (!stopped) {
        const { last } = await store.wakeSome(wokenLast, WAKE, WAKE_OF_ONE)
        if (last === null) break
        wokenLast = last
        claims.soon()
      }
    } catch (error) {
      log.warn({ err: error }, 'executions whose time has come could not be woken')
    } finally {
      waking = undefined
    }
  }

  let chores: Promise<void> | undefined

  /** Does the work that a tick has found. It runs beside the ticks, so that a busy worker is not declared dead. */
  const doChores = async (seen: Tick, workerId: string): Promise<void> => {
    try {
      const released = await buryDead(seen.beats, workerId)
      if (released > 0) claims.soon()
      if (ticks % STRAYS_EVERY === 0) await releaseStrays(workerId)
      for (const workspaceId of seen.leftover) await store.endWorkspace(workspaceId)
      if (seen.slots) {
        await store.grantSlots(1000)
        claims.soon()
      }
    } catch (error) {
      log.warn({ err: error }, 'work that a tick of the worker found could not be done')
    } finally {
      chores = undefined
    }
  }

  const tick = async (): Promise<void> => {
    const askedAt = performance.now()
    const { workerId } = identities.current()
    try {
      const seen = await store.tick(workerId)
      clock.set(seen.now, askedAt)
      if (seen.alive) {
        beatAt = askedAt
        deps.stallWatch.reset()
      } else if (identities.current().workerId === workerId) identities.renew()
      ticks += 1
      chores ??= doChores(seen, workerId)
      for (const [workspaceId, workflowId] of seen.flows) deps.decideSoon(workspaceId, workflowId)
      if (seen.due) waking ??= wakeAll()
      if (seen.untold) deps.reportEnds()
      for (const id of seen.unread) liveExecutions.get(id)?.checkInbox()
      if (seen.queued || claims.queueKnown()) claims.soon()
    } catch (error) {
      log.warn({ err: error }, 'the tick of the worker failed')
    }
    if (!stopped) timer = setTimeout(() => void tick(), deps.every)
  }

  await tick()
  return {
    beatAt: () => beatAt,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await Promise.all([waking, chores])
    },
  }
}
