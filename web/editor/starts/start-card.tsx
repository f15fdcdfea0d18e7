import { Handle, Position, type Node as XNode } from '@xyflow/react'
import { Plus } from 'lucide-react'
import { memo, use } from 'react'
import { cx } from '#web/ui/cx.ts'
import { ZoomedOut } from '../canvas/detail.tsx'
import type { Start } from './use-starts.ts'

export type StartData = { start: Start | null; label: string; onOpen(start: Start | null): void }
export type StartNode = XNode<StartData, 'start'>

/** A trigger as a card before the first step; without a trigger, the card that adds one. */
export const StartCard = memo(function StartCard({ data: { start, label, onOpen } }: { data: StartData }) {
  const far = use(ZoomedOut)
  const Icon = start?.icon ?? Plus
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => onOpen(start)}
      className={cx(
        'nodrag nopan pointer-events-auto flex size-full min-w-0 items-center gap-2 rounded-full border bg-surface px-3 text-left shadow-sm hover:border-accent',
        start === null ? 'border-dashed border-line-strong text-ink-2' : 'border-accent/50',
        start?.off && 'opacity-60',
      )}
    >
      {!far && (
        <>
          <Icon aria-hidden className="size-4 shrink-0 text-accent-strong" />
          <span className="min-w-0 flex-1">
            <span className="block truncate text-xs font-medium">
              {start === null ? 'How it starts' : start.what}
              {start?.off && ' (off)'}
            </span>
            {start !== null && <span className="block truncate text-xs text-ink-3">{start.detail}</span>}
          </span>
        </>
      )}
      {start !== null && <Handle id="out" type="source" position={Position.Right} className="opacity-0!" />}
    </button>
  )
})
