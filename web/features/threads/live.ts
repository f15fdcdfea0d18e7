import { useEffect, useState } from 'react'
import { watchConversations } from '#sdk/sockets'
import { api, invalidate } from '#web/api.ts'
import { useRole } from '#web/session.tsx'

/** How long to collect changes before reading again: a busy workspace sends many. */
const SETTLE_MS = 500
/** The interval while the socket is open, for changes that no message reports, such as the end of a takeover. */
const SELDOM = 60_000

/**
 * Reads conversations again as soon as one changes; returns the interval for additional reads. `often` applies while
 * there is no socket.
 */
export function useLiveConversations(often: number): number {
  const [isLive, setLive] = useState(false)
  const { isGuest } = useRole()
  useEffect(() => {
    // A guest is only in single threads and gets no events of the workspace.
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
