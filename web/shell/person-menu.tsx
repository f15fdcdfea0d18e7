import type { Person } from '#web/session.tsx'
import { OnDemand } from '#web/ui/on-demand.tsx'

const load = () => import('./person-menu-items.tsx').then(({ PersonMenuItems }) => PersonMenuItems)

export const PersonMenu = ({ me }: { me: Person }) => (
  <OnDemand load={load} props={{ me }}>
    <button
      type="button"
      className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-2 py-1 text-left lg:group-data-compact/nav:px-1 hover:bg-hover"
    >
      <span
        aria-hidden
        className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent-strong"
      >
        {initials(me.user.name)}
      </span>
      <span className="min-w-0 lg:group-data-compact/nav:sr-only">
        <span className="block truncate font-medium">{me.user.name}</span>
      </span>
    </button>
  </OnDemand>
)

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('') || '?'
