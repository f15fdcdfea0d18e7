import { Handle, type NodeProps, Position } from '@xyflow/react'
import { CircleAlert, CircleCheck, CircleDashed, CircleX, Hourglass, LoaderCircle, TriangleAlert } from 'lucide-react'
import { type CSSProperties, memo, use } from 'react'
import { cx } from '#web/ui/cx.ts'
import { formatDuration } from '#web/ui/time-words.ts'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import type { Mark } from '../document/compare.ts'
import { titleOf } from '../document/document.ts'
import { summaryOf } from '../document/summary.ts'
import { ZoomedOut } from './detail.tsx'
import type { FlowNode, NodeData, NodeRun } from './flow-items.ts'
import { colourOf, iconOf } from './icons.ts'

const borders: Record<Mark, string> = {
  added: 'border-success bg-success-soft',
  removed: 'border-danger bg-danger-soft border-dashed',
  changed: 'border-waiting bg-waiting-soft',
}

const states: Record<NodeRun['status'], { icon: typeof CircleCheck; tone: string; shown: string; edge: string }> = {
  pending: { icon: CircleDashed, tone: 'text-ink-3', shown: 'not started', edge: '' },
  running: { icon: LoaderCircle, tone: 'text-running', shown: 'running', edge: 'border-running' },
  waiting: { icon: Hourglass, tone: 'text-waiting', shown: 'is waiting', edge: 'border-waiting' },
  succeeded: { icon: CircleCheck, tone: 'text-success', shown: 'succeeded', edge: 'border-success' },
  failed: { icon: CircleX, tone: 'text-danger', shown: 'failed', edge: 'border-danger' },
  skipped: { icon: CircleDashed, tone: 'text-ink-3', shown: 'skipped', edge: 'border-dashed' },
}

/** One node. Its size depends on its kind and ports (size.ts); its content must not make it larger. */
export const NodeCard = memo(function NodeCard({ data, selected }: NodeProps<FlowNode>) {
  const { node, kind, run, problem, mark, tabStop, still } = data
  const far = use(ZoomedOut)
  const state = run && states[run.status]
  return (
    // A button may not contain the dots from which connections are drawn.
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is pressed only where it is a button
    <div
      role={still ? 'img' : 'button'}
      {...(!still && { tabIndex: tabStop ? 0 : -1, 'aria-pressed': selected })}
      data-node={node.id}
      aria-label={spoken(data)}
      className={cx(
        'size-full rounded-lg border text-left outline-offset-2',
        far ? 'bg-[color-mix(in_srgb,var(--kind)_45%,var(--surface))]' : 'bg-surface shadow-sm',
        mark ? borders[mark] : problem === 'error' ? 'border-danger' : (state?.edge ?? '') || 'border-line-strong/50',
        selected && 'ring-2 ring-accent',
        node.disabled && 'border-dashed opacity-55',
        run?.status === 'skipped' && 'bg-sunken text-ink-2 shadow-none',
      )}
      style={{ '--kind': colourOf(kind?.colour) } as CSSProperties}
    >
      {!far && <Inside {...data} />}
    </div>
  )
})

function Inside(data: NodeData) {
  const { node, kind, ports, plainOut, run, problem, mark } = data
  const Icon = iconOf(kind?.icon)
  const state = run && states[run.status]
  return (
    <>
      <Handle id="in" type="target" position={Position.Left} className="way-dot way-in" />
      <div className="flex h-14 items-center gap-2.5 px-2.5">
        <span
          className={cx(
            'grid size-8 shrink-0 place-items-center rounded-md bg-(--kind) text-[#fff]',
            run?.status === 'skipped' && 'opacity-50 grayscale',
          )}
        >
          <Icon aria-hidden className="size-4.5" />
        </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{titleOf(node)}</span>
          <span className="block truncate text-xs text-ink-3">{mark ?? subtitle(data)}</span>
        </span>
        {problem === 'error' && <CircleAlert aria-hidden className="size-4 shrink-0 text-danger" />}
        {problem === 'warning' && <TriangleAlert aria-hidden className="size-4 shrink-0 text-waiting" />}
        {state && (
          <state.icon
            aria-hidden
            className={cx('size-4 shrink-0', state.tone, run?.status === 'running' && 'animate-spin')}
          />
        )}
      </div>
      {plainOut && <Handle id="out" type="source" position={Position.Right} className="way-dot way-out" />}
      {ports.map((port) => (
        <div key={port} className="relative flex h-5.5 items-center justify-end pr-3.5 pl-3 text-xs text-ink-2">
          <span className="truncate">{port}</span>
          <Handle
            id={port}
            type="source"
            position={Position.Right}
            className={cx('way-dot', port === 'error' && 'way-error')}
          />
        </div>
      ))}
    </>
  )
}

function subtitle({ node, kind, run }: NodeData): string {
  if (run?.status === 'succeeded' && run.started_at && run.finished_at) {
    const took = formatDuration(Date.parse(run.finished_at) - Date.parse(run.started_at))
    return `${kind?.title ?? node.type} · ${took}${again(run)}`
  }
  if (run?.error) return translateMessage(run.error.message)
  if (node.disabled) return t('Disabled')
  if (!kind) return run ? node.type : `${node.type} is not available here`
  return summaryOf(node) ?? (titleOf(node) === kind.title ? node.id : kind.title)
}

const again = ({ attempt }: NodeRun): string => (attempt > 1 ? t(', attempt {0}', [attempt]) : '')

function spoken({ node, kind, run, problem, mark }: NodeData): string {
  const parts = [titleOf(node), kind?.title === titleOf(node) ? node.id : (kind?.title ?? node.type)]
  if (node.disabled) parts.push(t('disabled'))
  if (problem) parts.push(problem === 'error' ? t('has a problem') : t('has a warning'))
  if (run) parts.push(`${states[run.status].shown}${again(run)}`)
  if (mark) parts.push(mark)
  return parts.join(', ')
}
