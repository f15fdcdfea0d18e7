import { Popover } from '@base-ui/react/popover'
import { Link } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import type { Notification } from '#sdk/types.generated'
import { account } from '#web/api.ts'
import { switchWorkspace, useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { RelativeTime, TextWithTimes } from '#web/ui/time.tsx'
import { translateNotice } from '#web/words/messages.ts'
import { useLiveNotifications } from './live-notifications.tsx'

/** The panel of the bell, initially open. */
export function BellPanel({ trigger, side }: { trigger: ReactElement; side: 'top' | 'bottom' }) {
  const { unread, items } = useLiveNotifications()
  const [open, setOpen] = useState(true)
  const { workspace } = useMe()
  const read = async (notification: Notification): Promise<void> => {
    setOpen(false)
    if (!notification.read)
      void account.updateNotification({ notification_id: notification.notification_id, read: true })
    // The link of a notification belongs to the workspace of the notification.
    if (notification.workspace_id && notification.workspace_id !== workspace?.workspace_id)
      await switchWorkspace(notification.workspace_id)
  }
  const readAll = (): void => {
    for (const { notification_id } of items.filter((item) => !item.read))
      void account.updateNotification({ notification_id, read: true })
  }
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger render={trigger} />
      <Popover.Portal>
        <Popover.Positioner side={side} align="start" sideOffset={8} className="z-50">
          <Popover.Popup className="w-[min(24rem,calc(100vw-2rem))] rounded-lg border border-line bg-raised shadow-raised">
            <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
              <Popover.Title className="font-semibold">Notifications</Popover.Title>
              {unread > 0 && (
                <Button size="small" look="quiet" onClick={readAll}>
                  Mark as read
                </Button>
              )}
            </div>
            {items.length === 0 ? (
              <p className="px-4 py-8 text-center text-ink-2">No notifications yet.</p>
            ) : (
              <ul className="max-h-96 overflow-y-auto p-1">
                {items.map((item) => (
                  <li key={item.notification_id}>
                    <SafeLink
                      to={item.link}
                      onClick={() => void read(item)}
                      className="block rounded px-3 py-2 hover:bg-hover"
                    >
                      <span className="flex items-baseline gap-2">
                        <span className={cx('min-w-0 flex-1 break-words', !item.read && 'font-semibold')}>
                          {translateNotice(item).title}
                        </span>
                        <span className="shrink-0 text-xs text-ink-3">
                          <RelativeTime at={item.created_at} />
                        </span>
                      </span>
                      {item.body && (
                        <span className="line-clamp-2 text-ink-2">
                          <TextWithTimes text={translateNotice(item).body ?? ''} />
                        </span>
                      )}
                    </SafeLink>
                  </li>
                ))}
              </ul>
            )}
            <div className="border-t border-line p-2 text-center">
              <Link to="/notifications" onClick={() => setOpen(false)} className="text-accent hover:underline">
                All notifications
              </Link>
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
