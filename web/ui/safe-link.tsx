import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/**
 * A link whose address a tenant wrote: a path of the console or an http(s) address; any other address is shown as text
 * only.
 */
export function SafeLink({
  to,
  children,
  className,
  onClick,
}: {
  to: string | null
  children: ReactNode
  className?: string
  onClick?: () => void
}) {
  if (to !== null && /^\/(?![/\\])/.test(to)) {
    const [path = '/', query = ''] = to.split('?', 2)
    return (
      <Link to={path} search={Object.fromEntries(new URLSearchParams(query))} className={className} onClick={onClick}>
        {children}
      </Link>
    )
  }
  if (to !== null && /^https?:\/\//i.test(to)) {
    return (
      <a href={to} target="_blank" rel="noreferrer noopener" className={className} onClick={onClick}>
        {children}
      </a>
    )
  }
  return <span className={className}>{children}</span>
}
