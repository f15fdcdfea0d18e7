import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { type Frame, watchNotifications } from '#sdk/sockets'
import type { Notification } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { useMaybeMe } from '#web/session.tsx'
import { timesInWords } from '#web/ui/time-words.ts'
import { toast } from '#web/ui/toast.tsx'
import { translateNotice } from '#web/words/messages.ts'

// One socket for everything that concerns the user. Its events also refresh the lists that they make stale.

export type Live = {
  unread: number
  items: Notification[]
  state: 'live' | 'lost' | 'ended'
}

const nothing: Live = { unread: 0, items: [], state: 'lost' }
const Context = createContext<Live>(nothing)
export const useLiveNotifications = (): Live => useContext(Context)

const KEPT = 20

function apply(live: Live, frame: Frame): Live {
  if (frame.type === 'snapshot') {
    const { unread, items } = frame.data as { unread: number; items: Notification[] }
    return { ...live, unread, items }
  }
  const changed = frame.data as Notification
  const old = live.items.find(({ notification_id }) => notification_id === changed.notification_id)
  const others = live.items.filter(({ notification_id }) => notification_id !== changed.notification_id)
  const wasUnread = old ? Number(!old.read) : 0
  switch (frame.type) {
    case 'notification.created':
      return {
        ...live,
        items: [changed, ...others].slice(0, KEPT),
        unread: live.unread + Number(!changed.read) - wasUnread,
      }
    case 'notification.updated':
      // This event arrives only when the read mark has changed; for a notification that is not loaded here, only the
      // count matters.
      if (!old) return { ...live, unread: Math.max(0, live.unread + (changed.read ? -1 : 1)) }
      return {
        ...live,
        items: live.items.map((item) => (item === old ? { ...old, ...changed } : item)),
        unread: Math.max(0, live.unread + Number(!changed.read) - wasUnread),
      }
    case 'notification.deleted':
      return { ...live, items: others, unread: Math.max(0, live.unread - wasUnread) }
    default:
      return live
  }
}

/**
 * Checks whether the user is already looking at the execution, on its page or in the editor; then no toast is needed.
 */
const isInSight = (executionId: string): boolean =>
  location.pathname === `/runs/${executionId}` ||
  document.querySelector(`[data-execution="${CSS.escape(executionId)}"]`) !== null

export function LiveNotifications({ children }: { children: ReactNode }) {
  const { data: me } = useMaybeMe()
  const [live, setLive] = useState<Live>(nothing)
  const userId = me?.user.user_id
  const workspaceId = me?.workspace?.workspace_id
  // biome-ignore lint/correctness/useExhaustiveDependencies: another workspace is another feed
  useEffect(() => {
    if (userId === undefined) return
    const watching = watchNotifications(api, {
      onFrame(frame) {
        setLive((now) => apply(now, frame))
        void invalidate('listNotifications', 'listInbox', 'listQuestionInbox')
        if (frame.type === 'notification.created') {
          const notice = frame.data as Notification
          const { link, data } = notice
          const { title, body } = translateNotice(notice)
          // Delayed: an execution started here is shown at about the same time as its first question arrives.
          setTimeout(() => {
            if (link !== location.pathname && !isInSight(String(data.execution_id)))
              toast.tell(title, body ? timesInWords(body) : undefined)
          }, 400)
        }
      },
      onState: (state) => setLive((now) => ({ ...now, state })),
    })
    return () => watching.close()
  }, [userId, workspaceId])
  return <Context value={live}>{children}</Context>
}
