import { randomInt } from 'node:crypto'
import { CONVERSATION_HINTS } from '#areas/conversations/changes'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Feed } from '#platform/realtime/feed'

// Notifies that conversations of a workspace have changed, without saying what or where. The clients then read again
// what they may read. Nothing is stored. The sequence numbers belong to this process and start at a random value: a
// socket that reconnects to another process finds another number, and is told to read again.

const MAX_WORKSPACES = 50_000
const MAX_START = 2 ** 30

export function conversationFeed({ db, log }: { db: Database; log: Logger }): Feed {
  /** The number of the last change of each workspace. */
  const latest = new Map<string, number>()
  let last = randomInt(1, MAX_START)

  function note(workspaceId: string): void {
    last += 1
    // Workspaces that are removed here are notified at their next change.
    if (latest.size >= MAX_WORKSPACES) latest.clear()
    latest.set(workspaceId, last)
  }

  /** Hints were lost, so every workspace may have changed. */
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
        // Changes before the listener started were missed.
        noteAll()
        wake('')
      }
      listening.then(heard, (error: unknown) =>
        log.warn({ err: error }, 'changes of conversations could not be received'),
      )
      return () => void listening.then((stop) => stop()).catch(() => {})
    },

    authorise: async (viewers) =>
      viewers.map(({ resource, workspace_id }) => (resource === workspace_id ? 'allowed' : 'withdrawn')),

    snapshot: async ({ resource }) => {
      // Registers the workspace, so that it is also notified of lost hints.
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
