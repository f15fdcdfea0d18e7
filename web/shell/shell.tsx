import { Outlet, useLocation } from '@tanstack/react-router'
import { Menu as MenuIcon, Search, X } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { useMaybeMe } from '#web/session.tsx'
import { IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Loading } from '#web/ui/states.tsx'
import { Bell } from './bell.tsx'
import { LiveNotifications } from './live-notifications.tsx'
import { Navigation } from './navigation.tsx'
import { OfflineSign } from './offline.tsx'
import { CommandPalette, openPalette } from './palette/command-palette.tsx'
import { PersonMenu } from './person-menu.tsx'
import { useRenewedPresence } from './presence.ts'
import { SessionEnded } from './session-ended.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { WorkspaceSwitcher } from './workspace-switcher.tsx'

/** The frame around every page of a signed-in user. */
export function Shell() {
  const me = useMaybeMe()
  const location = useLocation()
  useRenewedPresence(me.data?.workspace?.workspace_id)
  const [navOpen, setNavOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the navigation of small screens
  useEffect(() => setNavOpen(false), [location.pathname])

  // The canvas of the editor needs the space of the labels.
  const compact = /^\/workflows\/[^/]+\/editor$/.test(location.pathname)

  // The route admits only signed-in users; between signing out and leaving, nothing is shown.
  if (!me.data) return null
  return (
    <LiveNotifications>
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <div className={cx('min-h-dvh lg:grid', compact ? 'lg:grid-cols-[3.5rem_1fr]' : 'lg:grid-cols-[15rem_1fr]')}>
        <aside
          data-compact={compact || undefined}
          className={cx(
            'group/nav z-30 flex flex-col border-line bg-sunken max-lg:fixed max-lg:inset-y-0 max-lg:left-0 max-lg:w-64 max-lg:border-r lg:sticky lg:top-0 lg:h-dvh lg:border-r',
            !navOpen && 'max-lg:hidden',
          )}
        >
          <div className="flex items-center gap-1 p-3 lg:group-data-compact/nav:px-1.5">
            <WorkspaceSwitcher me={me.data} />
            <IconButton icon={X} label="Close navigation" className="lg:hidden" onClick={() => setNavOpen(false)} />
          </div>
          <button
            type="button"
            title="Find anything (Ctrl K)"
            onClick={openPalette}
            className="mx-3 mb-3 flex items-center gap-2 rounded-md border border-line bg-surface px-2 py-1.5 text-left text-ink-2 hover:bg-hover lg:group-data-compact/nav:mx-2 lg:group-data-compact/nav:justify-center"
          >
            <Search aria-hidden className="size-4 shrink-0" />
            <span className="flex-1 lg:group-data-compact/nav:sr-only">Find anything</span>
            <kbd className="font-mono text-xs text-ink-3 max-lg:hidden lg:group-data-compact/nav:hidden">Ctrl K</kbd>
          </button>
          <Navigation me={me.data} />
          <div className="mt-auto flex items-center gap-1 border-t border-line p-3 lg:group-data-compact/nav:flex-col lg:group-data-compact/nav:px-1">
            <PersonMenu me={me.data} />
            <Bell />
          </div>
        </aside>
        <div className="flex min-w-0 flex-col">
          <div className="flex items-center gap-2 border-b border-line px-3 py-2 lg:hidden">
            <IconButton icon={MenuIcon} label="Open navigation" onClick={() => setNavOpen(true)} />
            <span className="flex-1 font-semibold">Heddle</span>
            <IconButton icon={Search} label="Find anything" onClick={openPalette} />
            <Bell side="bottom" />
          </div>
          <OfflineSign />
          <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
            <Suspense fallback={<Waiting />}>
              {me.data.workspace === null ? <NoWorkspace /> : <Outlet key={me.data.workspace.workspace_id} />}
            </Suspense>
          </main>
        </div>
      </div>
      <SessionEnded me={me.data} />
      <Shortcuts />
      <CommandPalette me={me.data} />
    </LiveNotifications>
  )
}

export const Waiting = () => (
  <div className="mx-auto max-w-5xl px-8 py-8">
    <Loading rows={5} />
  </div>
)

const NoWorkspace = () => (
  <div className="mx-auto max-w-xl px-4 py-24 text-center">
    <h1 className="text-lg font-semibold">You have no workspace yet</h1>
    <p className="mt-2 text-ink-2">
      Create one with the switcher at the top left, or ask a colleague for an invitation.
    </p>
  </div>
)
