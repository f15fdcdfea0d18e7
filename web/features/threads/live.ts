import { useEffect, useState } from 'react'
import { watchConversations } from '#sdk/sockets'
import { api, invalidate } from '#web/api.ts'
import { useRole } from '#web/session.tsx'

/** How long to gather changes before reading again: a busy workspace says many. */
const SETTLE_MS = 500
/** While the socket is open, for what no message tells, such as the end of a takeover. */
const SELDOM = 60_000

/** Reads conversations again as soon as one changes; gives how often to read them besides. `often` holds while there is no socket. */
export function useLiveConversations(often: number): number {
  const [isLive, setLive] = useState(false)
  const { isGuest } = useRole()
  useEffect(() => {
    // A guest is in single threads only, and is told nothing about the workspace.
    if (isGuest) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const watching = watchConversations(api, {
      onFrame: ({ type }) => {
        if (type === 'snapshot') return
        timer ??= setTimeout(() => {
          timer = undefined
          void invalidate(
            'listConversations',
            'getConversation',
            'listConversationNotes',
            'listThreads',
            'getThread',
            'listThreadMessages',
          )
        }, SETTLE_MS)
      },
      onState: (state) => setLive(state === 'live'),
    })
    return () => {
      watching.close()
      clearTimeout(timer)
    }
  }, [isGuest])
  return isLive ? SELDOM : often
}
