import { Link } from '@tanstack/react-router'
import { cx } from '#web/ui/cx.ts'
import { formatNumber } from '#web/ui/format.ts'
import { Card } from '#web/ui/page.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { recordWords } from './record-words.ts'
import type { Progress } from './use-job.ts'

const parts = [
  { status: 'succeeded', fill: 'bg-success' },
  { status: 'skipped', fill: 'bg-accent' },
  { status: 'filtered', fill: 'bg-ink-3' },
  { status: 'failed', fill: 'bg-danger' },
  { status: 'running', fill: 'bg-running' },
  { status: 'pending', fill: 'bg-line' },
] as const

/** One bar for the whole run, with a part for each status. */
export function ProgressOfRun({ progress, running, jobId }: { progress: Progress; running: boolean; jobId: string }) {
  const { total, counts, rate, estimated_end_at } = progress
  const done = counts.succeeded + counts.failed + counts.skipped + counts.filtered
  const share = total > 0 ? Math.floor((done / total) * 100) : 0
  return (
    <Card>
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="text-base font-semibold tabular-nums">
          {`${formatNumber(done)} of ${formatNumber(total)} records`}
        </span>
        <span className="text-ink-2 tabular-nums">
          {running && rate !== null && `${formatNumber(rate)} a second`}
          {running && estimated_end_at && (
            <>
              {' '}
              · done <RelativeTime at={estimated_end_at} />
            </>
          )}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label="Records"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share}
        className="flex h-3 overflow-hidden rounded-full bg-hover"
      >
        {parts.map(
          ({ status, fill }) =>
            counts[status] > 0 && (
              <div
                key={status}
                className={cx('h-full', fill)}
                style={{ width: `${(counts[status] / Math.max(1, total)) * 100}%` }}
              />
            ),
        )}
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1">
        {parts.map(({ status, fill }) => (
          <li key={status}>
            <Link
              to={`/jobs/${jobId}/ledger`}
              search={{ status }}
              className="flex items-center gap-1.5 hover:underline"
            >
              <span aria-hidden className={cx('size-2.5 rounded-sm', fill)} />
              {recordWords[status]} <span className="font-semibold tabular-nums">{formatNumber(counts[status])}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}
