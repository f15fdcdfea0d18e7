import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { writePeriodically } from '#platform/periodic-write'

// The time when a credential was last used. It is kept in memory and written every 30 seconds, so that a credential
// that is used a thousand times a second does not cause lock contention. A process that dies loses its unwritten times;
// they are only a hint for people.

const EVERY = 30 * SECOND

type Use = { workspaceId: string; credentialId: string; at: Date }

export function makeUseNotes({ db, log, every = EVERY }: { db: Database; log: Logger; every?: number }) {
  let pending = new Map<string, Use>()

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const uses = [...pending.values()]
    pending = new Map()
    try {
      await db.appPool.query('select note_credentials_used($1, $2, $3)', [
        uses.map(({ workspaceId }) => workspaceId),
        uses.map(({ credentialId }) => credentialId),
        uses.map(({ at }) => at),
      ])
    } catch (error) {
      log.warn({ err: error }, 'the time of the last use of credentials could not be stored')
    }
  }

  return {
    note(workspaceId: string, credentialId: string): void {
      pending.set(credentialId, { workspaceId, credentialId, at: new Date() })
    },
    ...writePeriodically(every, write),
  }
}

export type UseNotes = ReturnType<typeof makeUseNotes>
