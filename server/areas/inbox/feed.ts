import { randomInt } from 'node:crypto'
import { CONVERSATION_HINTS } from '#areas/conversations/changes'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Feed } from '#platform/realtime/feed'

// Tells that something has changed in the conversations of a workspace, and neither what nor where: those who are told read again what
// they may read. Nothing is stored. The numbers are those of this process, and begin anywhere: a socket that comes back to another
// process finds another number, and is told to read again.

const MAX_WORKSPACES = 50_000
const MAX_START = 2 ** 30

export function conversationFeed({ db, log }: { db: Database; log: Logger }): Feed {
  /** The number of the last change. */
  const latest = new Map<string, number>()
  let last = randomInt(1, MAX_START)

  function note(workspaceId: string): void {
    last += 1
    // Those that are forgotten are told with their next change.
    if (latest.size >= MAX_WORKSPACES) latest.clear()
    latest.set(workspaceId, last)
  }

  /** Hints were lost: anything may have changed. */
  function noteAll(): void {
    last += 1
    for (const workspaceId of latest.keys()) latest.set(workspaceId, last)
  }

  return {
    path: '/ws/conversations',

    hints(wake) {
      const listening = db.listen(CONVERSATION_HINTS, (workspaceId) => {
        if (workspaceId === '') noteAll()
        else note(workspaceId)
        wake(workspaceId)
      })
      const heard = (): void => {
        // What changed before was not heard of.
        noteAll()
        wake('')
      }
      listening.then(heard, (error: unknown) => log.warn({ err: error }, 'changes of conversations are not heard of'))
      return () => void listening.then((stop) => stop()).catch(() => {})
    },

    authorise: async (viewers) =>
      viewers.map(({ resource, workspace_id }) => (resource === workspace_id ? 'allowed' : 'withdrawn')),

    snapshot: async ({ resource }) => {
      // From now on it is known, so that lost hints are told to it too.
      if (!latest.has(resource)) note(resource)
      return { seq: latest.get(resource)!, data: {} }
    },

    read: async (requests) =>
      requests.map(({ resource, after }) => {
        const seq = latest.get(resource) ?? 0
        return seq > after ? [{ seq, type: 'conversations.changed', at: new Date(), data: {} }] : []
      }),
  }
}
