import { Inbox, Lock, type LucideIcon, RefreshCw, SearchX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { isRefusal, messageOf } from './messages.ts'

type Words = { icon?: LucideIcon; title: ReactNode; children?: ReactNode; action?: ReactNode; className?: string }

/** The empty state, with a suggestion for what to do. */
export const Empty = ({ icon: Icon = Inbox, title, children, action, className }: Words) => (
  <div
    className={cx(
      'flex flex-col items-center gap-2 rounded-lg border border-dashed border-line px-6 py-12 text-center',
      className,
    )}
  >
    <Icon aria-hidden className="size-6 text-ink-3" />
    <p className="font-medium">{title}</p>
    {children && <div className="max-w-prose text-ink-2">{children}</div>}
    {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
  </div>
)

/** Describes a failure: not allowed, not found, or not reachable, and how to fix it. */
export function ErrorState({
  error,
  onRetry,
  what = 'this page',
}: {
  error: unknown
  onRetry?: () => void
  what?: string
}) {
  if (isRefusal(error, 403)) {
    return (
      <Empty icon={Lock} title={`You do not have access to ${what}`}>
        {messageOf(error)} Ask its owner, or an owner of the workspace, for access.
      </Empty>
    )
  }
  if (isRefusal(error, 404)) {
    return (
      <Empty icon={SearchX} title={`Could not find ${what}`}>
        It was deleted, belongs to another workspace, or was not shared with you.
      </Empty>
    )
  }
  return (
    <div role="alert">
      <Empty
        icon={TriangleAlert}
        title={`Could not load ${what}`}
        action={
          onRetry && (
            <Button icon={RefreshCw} onClick={onRetry}>
              Try again
            </Button>
          )
        }
      >
        {messageOf(error)}
        {isRefusal(error, 500) && error.requestId && (
          <span className="mt-1 block font-mono text-xs">Request {error.requestId}</span>
        )}
      </Empty>
    </div>
  )
}

export const Skeleton = ({ className }: { className?: string }) => (
  <div aria-hidden className={cx('animate-pulse rounded bg-hover', className ?? 'h-4 w-full')} />
)

/** Grey lines while data is loading; a screen reader announces it once. */
export const Loading = ({ rows = 4, label = 'Loading' }: { rows?: number; label?: string }) => (
  <div role="status" aria-label={label} className="flex flex-col gap-3 py-2">
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
      <Skeleton key={row} className={row === 0 ? 'h-5 w-1/3' : 'h-4 w-full'} />
    ))}
  </div>
)

export type Fetched<Data> = { data: Data | undefined; error: unknown; isPending: boolean; refetch(): unknown }

/** The state of a query: skeleton, error, or its data. */
export function Loaded<Data>({
  of,
  what,
  rows,
  children,
}: {
  of: Fetched<Data>
  what?: string
  rows?: number
  children(data: Data): ReactNode
}) {
  if (of.data !== undefined) return children(of.data)
  if (of.error) return <ErrorState error={of.error} what={what} onRetry={() => void of.refetch()} />
  return <Loading rows={rows} />
}
