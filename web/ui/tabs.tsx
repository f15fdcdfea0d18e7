import { Tabs as Base } from '@base-ui/react/tabs'
import { Link, useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { cx } from './cx.ts'

export const tabClass =
  'border-b-2 border-transparent px-1 py-2 text-sm font-medium text-ink-2 hover:text-ink whitespace-nowrap'

export type Tab = { value: string; label: ReactNode; content: ReactNode }

export function Tabs({ tabs, value, onChange }: { tabs: Tab[]; value?: string; onChange?: (value: string) => void }) {
  return (
    <Base.Root
      defaultValue={tabs[0]?.value}
      value={value}
      onValueChange={onChange && ((next) => onChange(String(next)))}
    >
      <Base.List className="mb-4 flex gap-5 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className={cx(tabClass, '-mb-px data-[active]:border-accent data-[active]:text-ink')}
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="outline-offset-4">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}

/** Sections with their own addresses, so that each can be linked to. */
export function TabLinks({
  label,
  tabs,
}: {
  label: string
  tabs: { to: string; label: ReactNode; exact?: boolean }[]
}) {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the section one is in is to be seen, on a narrow screen too
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>('[aria-current=page]')
    if (tab) nav.current!.scrollLeft = tab.offsetLeft - nav.current!.offsetLeft
  }, [pathname])
  return (
    <nav ref={nav} aria-label={label} className="mb-5 flex gap-5 overflow-x-auto border-b border-line">
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          activeOptions={{ exact: tab.exact ?? false, includeSearch: false }}
          className={cx(tabClass, '-mb-px')}
          activeProps={{ className: 'border-accent! text-ink!', 'aria-current': 'page' }}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
