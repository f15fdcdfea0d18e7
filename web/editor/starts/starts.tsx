import { Zap } from 'lucide-react'
import { cx } from '#web/ui/cx.ts'
import type { Start } from './use-starts.ts'

/**
 * The triggers of the workflow, for small screens and an empty graph, where the cards before the first step are not
 * shown.
 */
export const Starts = ({
  starts,
  alsoWide,
  onOpen,
}: {
  starts: readonly Start[]
  alsoWide: boolean
  onOpen(): void
}) => (
  <button
    type="button"
    aria-label={`How this workflow starts: ${starts.map(({ what }) => what).join(', ')}`}
    onClick={onOpen}
    className={cx(
      'flex items-center gap-1.5 rounded-lg border border-line bg-surface p-2.5 text-xs font-medium text-ink-2 shadow-sm hover:border-accent',
      !alsoWide && 'lg:hidden',
    )}
  >
    <Zap aria-hidden className="size-3.5" /> Starts
    <span className="text-ink-3">{starts.map(({ what }) => what).join(', ')}</span>
  </button>
)
