import { hostname } from 'node:os'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { OUTBOX_HINTS } from '#platform/outbox'
import { makeEventWorkspaces } from '../journal/event-workspaces.ts'
import { type Journal, makeJournal } from '../journal/journal.ts'
import type { StallWatch } from './stall-watch.ts'
import type { Store } from './store.ts'

/**
 * The identity under which a worker owns executions and writes. An identity that was declared dead is never used
 * again.
 */
export type Identity = { workerId: string; journal: Journal }

export type Identities = {
  current(): Identity
  /** Checks whether the worker gave up its identity and has no new one yet. */
  renewing(): boolean
  /**
   * Gives up everything owned under the old identity (the journal contains what was written), and then continues
   * under a new one.
   */
  renew(): void
  stop(): Promise<void>
}

export const makeIdentities = async (deps: {
  db: Database
  store: Store
  log: Logger
  stallWatch: Pick<StallWatch, 'hasStalled'>
  /** Writes what the next owner must know, before any worker can take over. */
  beforeHandOver(): Promise<void>
  /** Called when the identity is given up. No execution owned under it may be touched any more. */
  onGivenUp(): void
  onRenewed(): void
}): Promise<Identities> => {
  const { db, store, log } = deps

  // Shared by all identities, because its content stays valid.
  const eventWorkspaces = makeEventWorkspaces()
  const onLeft = (): void => db.hint(OUTBOX_HINTS, '')

  const newIdentity = async (): Promise<Identity> => {
    const workerId = newId()
    await store.register({ workerId, host: hostname(), pid: process.pid })
    return { workerId, journal: makeJournal({ pool: db.enginePool, workerId, log, watched: eventWorkspaces, onLeft }) }
  }

  let identity = await newIdentity()
  let renewing: Promise<void> | undefined
  let stopped = false

  /**
   * Hands over the executions of the old identity. This is not a crash. If other workers took over first and counted
   * crashes because this process could not reach the database, the crashes are removed.
   */
  const handOver = async ({ workerId }: Identity, stoodStill: boolean): Promise<void> => {
    await deps.beforeHandOver()
    // Waits for statements of this worker that may still be running.
    await store.declareDead(workerId, false)
    const acquitted = stoodStill ? 0 : await store.forgiveCrashes(workerId)
    if (acquitted > 0) log.info({ executions: acquitted }, 'crashes that the executions did not cause are not counted')
  }

  const replace = async (old: Identity): Promise<void> => {
    const stoodStill = deps.stallWatch.hasStalled()
    deps.onGivenUp()
    void old.journal.close()
    for (let wait = 50; ; wait = Math.min(SECOND, wait * 2)) {
      try {
        await handOver(old, stoodStill)
        identity = await newIdentity()
        break
      } catch (error) {
        log.warn({ err: error }, 'the database does not answer; the worker waits for it')
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    }
    renewing = undefined
    deps.onRenewed()
  }

  return {
    current: () => identity,
    renewing: () => renewing !== undefined,
    renew: () => {
      if (!stopped) renewing ??= replace(identity)
    },
    stop: async () => {
      stopped = true
      await renewing
      await identity.journal.close()
      await handOver(identity, deps.stallWatch.hasStalled()).catch((error: Error) =>
        log.warn({ err: error }, 'the worker could not sign off from the database'),
      )
    },
  }
}
