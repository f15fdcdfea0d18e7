import type { Execution } from '#sdk/types.generated'
import { StatusBadge } from '#web/ui/badge.tsx'
import { cx } from '#web/ui/cx.ts'
import { Empty } from '#web/ui/states.tsx'
import { useNow } from '#web/ui/time.tsx'
import { exactTime, formatDuration } from '#web/ui/time-words.ts'

type Node = Execution['nodes'][number]

const bars: Record<Node['status'], string> = {
  pending: 'bg-line',
  running: 'bg-running',
  waiting: 'bg-waiting',
  succeeded: 'bg-success',
  failed: 'bg-danger',
  skipped: 'bg-line',
}

/** When each step started and how long it took, relative to the whole execution. */
export function Timeline({
  execution,
  nameOf,
  selected,
  onSelect,
}: {
  execution: Execution
  nameOf(nodeId: string): string
  selected: string | null
  onSelect(nodeId: string): void
}) {
  const now = useNow(execution.finished_at === null)
  const begun = execution.nodes.filter(({ started_at, status }) => started_at !== null && status !== 'skipped')
  if (begun.length === 0) return <Empty title="No step has run yet" />
  const start = Math.min(...begun.map(({ started_at }) => Date.parse(started_at!)))
  const end = Math.max(execution.finished_at ? Date.parse(execution.finished_at) : Math.max(now, start + 1), start + 1)
  const rows = begun.sort((a, b) => Date.parse(a.started_at!) - Date.parse(b.started_at!))
  return (
    <ol className="flex flex-col">
      {rows.map((node) => {
        const from = Date.parse(node.started_at!)
        const to = node.finished_at ? Date.parse(node.finished_at) : end
        return (
          <li key={node.node_id}>
            <button
              type="button"
              aria-pressed={selected === node.node_id}
              onClick={() => onSelect(node.node_id)}
              className={cx(
                'grid w-full grid-cols-[1fr_6.5rem_5rem] items-center gap-3 rounded px-2 py-1.5 text-left hover:bg-hover sm:grid-cols-[minmax(7rem,14rem)_6.5rem_1fr_5rem]',
                selected === node.node_id && 'bg-hover',
              )}
            >
              <span className="truncate">
                {nameOf(node.node_id)}
                {node.attempt > 1 && <span className="text-ink-2"> · {node.attempt} attempts</span>}
              </span>
              <span>
                <StatusBadge status={node.status} />
              </span>
              <span
                className="relative h-3 rounded bg-sunken max-sm:hidden"
                title={`Started ${exactTime(node.started_at!)}`}
              >
                <span
                  className={cx('absolute inset-y-0 min-w-0.5 rounded', bars[node.status])}
                  style={{
                    left: `${((from - start) / (end - start)) * 100}%`,
                    width: `${(Math.max(0, to - from) / (end - start)) * 100}%`,
                  }}
                />
              </span>
              <span className="text-right text-ink-2 tabular-nums">{formatDuration(to - from)}</span>
            </button>
          </li>
        )
      })}
    </ol>
  )
}
