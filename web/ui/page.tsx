import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { cx } from './cx.ts'

export type Crumb = { label: ReactNode; to: string }

/** A page of the console; its title is also the title of the window. */
export function Page({
  title,
  heading,
  crumbs,
  description,
  actions,
  wide = false,
  children,
}: {
  title: string
  /** Replaces the title if the heading contains more than text. */
  heading?: ReactNode
  crumbs?: Crumb[]
  description?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}) {
  useTitle(title)
  return (
    <div className={cx('mx-auto w-full px-4 py-6 sm:px-8', wide ? 'max-w-none' : 'max-w-5xl')}>
      <PageHeader title={heading ?? title} crumbs={crumbs} description={description} actions={actions} />
      {children}
    </div>
  )
}

function PageHeader({
  title,
  crumbs = [],
  description,
  actions,
}: {
  title: ReactNode
  crumbs?: Crumb[]
  description?: ReactNode
  actions?: ReactNode
}) {
  return (
    <header className="mb-5">
      {crumbs.length > 0 && (
        <nav aria-label="Breadcrumb" className="mb-1 flex items-center gap-1 text-xs text-ink-2">
          {crumbs.map((crumb, index) => (
            <span key={crumb.to} className={cx('flex items-center gap-1', index === 0 ? 'shrink-0' : 'min-w-0')}>
              {index > 0 && <ChevronRight aria-hidden className="size-3 shrink-0" />}
              <Link to={crumb.to} className="truncate hover:text-ink hover:underline">
                {crumb.label}
              </Link>
            </span>
          ))}
        </nav>
      )}
      <div className="flex min-h-9 flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-[min(100%,18rem)] flex-1">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {description && <div className="mt-1 max-w-2xl text-pretty text-ink-2">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </header>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Heddle`
  }, [title])
}

export function Section({
  title,
  description,
  actions,
  children,
  className,
}: {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
  className?: string
}) {
  return (
    <section className={cx('mb-8', className)}>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <div className="min-w-[min(100%,18rem)] flex-1">
          <h2 className="text-base font-semibold">{title}</h2>
          {description && <p className="mt-0.5 max-w-3xl text-pretty text-ink-2">{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

export const Card = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div
    className={cx(
      'rounded-lg border border-line bg-surface',
      !/(^|\s)p[xy]?-/.test(className ?? '') && 'p-4',
      className,
    )}
  >
    {children}
  </div>
)

/** Names above values, side by side if there is space. */
export const FactRow = ({ facts }: { facts: [label: string, value: ReactNode][] }) => (
  <dl className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-x-8 gap-y-4">
    {facts.map(([label, value]) => (
      <div key={label}>
        <dt className="text-xs text-ink-2">{label}</dt>
        <dd className="mt-0.5 max-w-72 break-words not-has-[code]:first-letter:uppercase">{value}</dd>
      </div>
    ))}
  </dl>
)

/** Names and values, side by side. */
export const Facts = ({ facts }: { facts: [label: string, value: ReactNode][] }) => (
  <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
    {facts.map(([label, value]) => (
      <div key={label} className="col-span-2 grid grid-cols-subgrid">
        <dt className="text-ink-2">{label}</dt>
        <dd className="min-w-0 break-words">{value}</dd>
      </div>
    ))}
  </dl>
)
