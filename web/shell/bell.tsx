import { Bell as BellIcon } from 'lucide-react'
import { OnDemand } from '#web/ui/on-demand.tsx'
import { useLiveNotifications } from './live-notifications.tsx'

const load = () => import('./bell-panel.tsx').then(({ BellPanel }) => BellPanel)

/** `side`: the side on which the list opens. */
export function Bell({ side = 'top' }: { side?: 'top' | 'bottom' }) {
  const { unread } = useLiveNotifications()
  const label = unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`
  return (
    <OnDemand load={load} props={{ side }} kind="dialog">
      <button
        type="button"
        aria-label={label}
        title={label}
        className="relative grid size-9 shrink-0 place-items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink"
      >
        <BellIcon aria-hidden className="size-4" />
        {unread > 0 && (
          <span
            aria-hidden
            className="absolute top-0.5 right-0.5 min-w-4 rounded-full bg-danger px-1 text-center text-[10px] leading-4 font-semibold text-danger-ink"
          >
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </button>
    </OnDemand>
  )
}
