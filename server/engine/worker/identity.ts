import { hostname } from 'node:os'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { OUTBOX_HINTS } from '#platform/outbox'
import { type Journal, makeJournal } from '../journal/journal.ts'
import { makeWatched } from '../journal/watched.ts'
import type { Store } from './store.ts'

/** The name under which a worker owns executions and writes. One that was declared dead is never used again. */
export type Identity = { workerId: string; journal: Journal }

export type Identities = {
  current(): Identity
  /** It gave up its name and has no new one yet. */
  renewing(): boolean
  /** Gives up everything under the old name; the journal says what was written. Then begins anew under another. */
  renew(): void
  stop(): Promise<void>
}

export const makeIdentities = async (deps: {
  db: Database
  store: Store
  log: Logger
  /** The name is given up: nothing owned under it may be touched any more. */
  onGivenUp(): void
  onRenewed(): void
}): Promise<Identities> => {
  const { db, store, log } = deps

  // Outlives a name: what it knows stays true.
  const watched = makeWatched()
  const onLeft = (): void => db.hint(OUTBOX_HINTS, '')

  const newIdentity = async (): Promise<Identity> => {
    const workerId = newId()
    await store.register({ workerId, host: hostname(), pid: process.pid })
    return { workerId, journal: makeJournal({ pool: db.enginePool, workerId, log, watched, onLeft }) }
  }

  let identity = await newIdentity()
  let renewing: Promise<void> | undefined
  let stopped = false

  const replace = async (old: Identity): Promise<void> => {
    deps.onGivenUp()
    void old.journal.close()
    for (let wait = 50; ; wait = Math.min(SECOND, wait * 2)) {
      try {
        // Waits for statements of ours that may still be under way.
        await store.bury(old.workerId, false)
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
      await store
        .bury(identity.workerId, false)
        .catch((error: Error) => log.warn({ err: error }, 'the worker left without a word'))
    },
  }
}
