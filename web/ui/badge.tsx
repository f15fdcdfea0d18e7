import type { ReactNode } from 'react'
import { cx } from './cx.ts'

export type Tone = 'neutral' | 'accent' | 'running' | 'waiting' | 'success' | 'danger'

const tones: Record<Tone, string> = {
  neutral: 'bg-sunken text-ink-2',
  accent: 'bg-accent-soft text-accent-strong',
  running: 'bg-running-soft text-running',
  waiting: 'bg-waiting-soft text-waiting',
  success: 'bg-success-soft text-success',
  danger: 'bg-danger-soft text-danger',
}

export const Badge = ({
  tone = 'neutral',
  children,
  className,
}: {
  tone?: Tone
  children: ReactNode
  className?: string
}) => (
  <span
    className={cx(
      'inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium whitespace-nowrap',
      tones[tone],
      className,
    )}
  >
    {children}
  </span>
)

/** The label and the colour of each state, in one table for everything that has states. */
const states: Record<string, { tone: Tone; label: string }> = {
  queued: { tone: 'neutral', label: 'Queued' },
  pending: { tone: 'neutral', label: 'Not started' },
  running: { tone: 'running', label: 'Running' },
  waiting: { tone: 'waiting', label: 'Waiting' },
  succeeded: { tone: 'success', label: 'Succeeded' },
  failed: { tone: 'danger', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
  timed_out: { tone: 'danger', label: 'Timed out' },
  skipped: { tone: 'neutral', label: 'Skipped' },
  filtered: { tone: 'neutral', label: 'Filtered' },
  open: { tone: 'waiting', label: 'Pending' },
  approved: { tone: 'success', label: 'Approved' },
  rejected: { tone: 'danger', label: 'Rejected' },
  expired: { tone: 'neutral', label: 'Expired' },
  active: { tone: 'success', label: 'Active' },
  failing: { tone: 'danger', label: 'Failing' },
  revoked: { tone: 'neutral', label: 'Revoked' },
  ready: { tone: 'success', label: 'Ready' },
  needs_authorization: { tone: 'waiting', label: 'Not connected' },
  needs_reconnect: { tone: 'danger', label: 'Connect again' },
  idle: { tone: 'neutral', label: 'Idle' },
  due: { tone: 'waiting', label: 'Due' },
  paused: { tone: 'waiting', label: 'Paused' },
  ended: { tone: 'neutral', label: 'Ended' },
  trialing: { tone: 'accent', label: 'Trial' },
  past_due: { tone: 'danger', label: 'Past due' },
  paid: { tone: 'success', label: 'Paid' },
  draft: { tone: 'neutral', label: 'Draft' },
  void: { tone: 'neutral', label: 'Void' },
  uncollectible: { tone: 'danger', label: 'Uncollectible' },
}

export const statusLabel = (status: string): string => states[status]?.label ?? status

export function StatusBadge({ status, label }: { status: string; label?: string }) {
  const { tone, label: usual } = states[status] ?? { tone: 'neutral' as const, label: status }
  return (
    <Badge tone={tone}>
      <span aria-hidden className={cx('size-1.5 rounded-full bg-current', status === 'running' && 'animate-pulse')} />
      {label ?? usual}
    </Badge>
  )
}
