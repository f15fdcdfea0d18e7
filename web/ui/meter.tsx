import type { ReactNode } from 'react'
import { cx } from './cx.ts'

/** A progress bar: an upload, a quota, a job. Without `max` it shows no ratio. */
export function Meter({
  label,
  value,
  max,
  detail,
  tone = 'accent',
}: {
  label: string
  value: number
  max: number | null
  detail?: ReactNode
  tone?: 'accent' | 'danger' | 'waiting' | 'success'
}) {
  const share = max === null || max <= 0 ? 0 : Math.min(1, value / max)
  const fill = { accent: 'bg-accent', danger: 'bg-danger', waiting: 'bg-waiting', success: 'bg-success' }[tone]
  return (
    <div>
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-medium">{label}</span>
        {detail && <span className="text-ink-2 tabular-nums">{detail}</span>}
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={max === null ? undefined : Math.round(share * 100)}
        className="h-2 overflow-hidden rounded-full bg-hover"
      >
        <div className={cx('h-full rounded-full transition-[width]', fill)} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}
