import { Link, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { NavEntry, NavGroup } from '#web/features/feature.ts'
import { features } from '#web/features/registry.ts'
import type { Person } from '#web/session.tsx'
import { shownCount, useCounts } from './counts.ts'

const groups = {
  work: 'Work',
  data: 'Data',
  conversations: 'Conversations',
  administration: 'Administration',
  operators: 'Operators',
} as const satisfies Record<NavGroup, string>

const notGuests = (me: Person): boolean => me.workspace?.role !== 'guest'

export const entriesFor = (me: Person): NavEntry[] =>
  features.flatMap(({ nav = [] }) => nav).filter(({ shownTo = notGuests }) => shownTo(me))

export function Navigation({ me }: { me: Person }) {
  const entries = entriesFor(me)
  const { pathname } = useLocation()
  const counts = useCounts()
  const nav = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: where one is, is to be seen
  useEffect(() => {
    nav.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' })
  }, [pathname])
  return (
    <nav
      ref={nav}
      aria-label="Main"
      className="flex min-h-0 flex-col gap-4 overflow-y-auto px-3 pt-px pb-4 lg:group-data-compact/nav:px-2"
    >
      {(Object.keys(groups) as NavGroup[]).map((group) => {
        const own = entries.filter((entry) => entry.group === group)
        if (own.length === 0) return null
        return (
          <div key={group}>
            {group !== 'work' && (
              <p
                id={`nav-${group}`}
                className="px-2 pb-1 text-xs font-medium text-ink-3 lg:group-data-compact/nav:sr-only"
              >
                {groups[group]}
              </p>
            )}
            <ul aria-labelledby={group === 'work' ? undefined : `nav-${group}`} className="flex flex-col gap-px">
              {own.map((entry) => (
                <li key={entry.to}>
                  <Entry entry={entry} count={entry.count === undefined ? 0 : counts[entry.count]} />
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

const Entry = ({ entry: { icon: Icon, label, to }, count }: { entry: NavEntry; count: number }) => (
  <Link
    to={to}
    title={label}
    activeOptions={{ exact: to === '/' }}
    className="relative flex items-center gap-2.5 rounded-md px-2 py-1.5 text-ink-2 lg:group-data-compact/nav:justify-center hover:bg-hover hover:text-ink"
    activeProps={{
      className: 'bg-surface! text-ink! font-medium shadow-[0_0_0_1px_var(--line)]',
      'aria-current': 'page',
    }}
  >
    <Icon aria-hidden className="size-4 shrink-0" />
    <span className="truncate lg:group-data-compact/nav:sr-only">{label}</span>
    {count > 0 && (
      <span className="ml-auto rounded-full bg-waiting-soft px-1.5 text-xs font-medium text-waiting tabular-nums lg:group-data-compact/nav:absolute lg:group-data-compact/nav:top-0 lg:group-data-compact/nav:right-0">
        {shownCount(count)}
        <span className="sr-only"> waiting</span>
      </span>
    )}
  </Link>
)
