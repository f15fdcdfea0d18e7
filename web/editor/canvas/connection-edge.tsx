import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react'
import { memo } from 'react'
import { cx } from '#web/ui/cx.ts'
import type { EdgeData, FlowEdge } from './flow-items.ts'

export const edgeClass = ({ mark, problem, taken }: EdgeData, selected: boolean): string =>
  cx(
    'react-flow__edge-path way-line',
    mark && `way-${mark}`,
    problem && 'way-problem',
    taken === true && 'way-taken',
    taken === false && 'way-left',
    selected && 'way-selected',
  )

/** One connection, with its condition as a label. */
export const ConnectionEdge = memo(function WayEdge(props: EdgeProps<FlowEdge>) {
  const { data, selected, id } = props
  const [path, x, y] = getBezierPath(props)
  const { mark, label } = data!
  return (
    <>
      <BaseEdge id={id} path={path} interactionWidth={18} className={edgeClass(data!, selected === true)} />
      {(label !== '' || mark) && (
        <EdgeLabelRenderer>
          <div
            className={cx(
              'nodrag nopan pointer-events-none absolute max-w-44 truncate rounded border bg-surface px-1.5 py-0.5 font-mono text-[11px] leading-4 text-ink-2',
              data!.problem ? 'border-danger' : selected ? 'border-accent' : 'border-line',
            )}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {[mark, label].filter(Boolean).join(' · ')}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
