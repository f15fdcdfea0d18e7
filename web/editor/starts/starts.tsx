import { Zap } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { cx } from '#web/ui/cx.ts'
import { useEditor } from '../store.ts'
import { useStarts } from './use-starts.ts'

const StartsDialog = lazy(() => import('./starts-dialog.tsx').then((module) => ({ default: module.StartsDialog })))

const MAX_SHOWN = 4

/** What starts the workflow, above the beginning of its graph; behind it is the dialog that changes it. */
export function Starts({ workflow }: { workflow: Workflow }) {
  const [open, setOpen] = useState(false)
  const isShown = useEditor((state) => state.path.length === 0 && state.comparison === null)
  const starts = useStarts(workflow)
  if (!isShown || workflow.kind !== 'user') return null
  return (
    <>
      <button
        type="button"
        aria-label={`How this workflow starts: ${starts.map(({ what }) => what).join(', ')}`}
        onClick={() => setOpen(true)}
        className="flex w-56 flex-col gap-1.5 rounded-lg border border-line bg-surface p-2.5 text-left shadow-sm hover:border-accent max-lg:w-auto"
      >
        <span className="flex items-center gap-1.5 text-xs font-medium text-ink-2">
          <Zap aria-hidden className="size-3.5" /> Starts
        </span>
        <span className="flex flex-col gap-1.5 max-lg:sr-only">
          {starts.slice(0, MAX_SHOWN).map(({ key, icon: Icon, what, detail, off }) => (
            <span key={key} className={cx('flex min-w-0 items-center gap-2', off && 'opacity-60')}>
              <Icon aria-hidden className="size-4 shrink-0 text-accent-strong" />
              <span className="min-w-0 flex-1">
                <span className="block truncate text-xs font-medium">
                  {what}
                  {off && ' (off)'}
                </span>
                <span className="block truncate text-xs text-ink-3">{detail}</span>
              </span>
            </span>
          ))}
          {starts.length > MAX_SHOWN && (
            <span className="text-xs text-ink-3">and {starts.length - MAX_SHOWN} more</span>
          )}
        </span>
      </button>
      {open && (
        <Suspense>
          <StartsDialog workflow={workflow} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
