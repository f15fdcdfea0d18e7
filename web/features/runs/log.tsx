import { useEffect } from 'react'
import { useList } from '#web/api.ts'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { exactTime } from '#web/ui/time-words.ts'

const tones = { debug: 'text-ink-3', info: 'text-ink-2', warn: 'text-waiting', error: 'text-danger' } as const

/** The lines that code wrote with `log(...)`, and the texts of agents. `seen` changes as the execution progresses. */
export function RunLog({
  execution_id,
  seen,
  nameOf,
}: {
  execution_id: string
  seen: number
  nameOf(nodeId: string): string
}) {
  const lines = useList('listExecutionLogs', { execution_id, limit: 200 })
  const { refetch } = lines
  // biome-ignore lint/correctness/useExhaustiveDependencies: every event of the run may have brought lines
  useEffect(() => void refetch(), [seen, refetch])
  return (
    <Loaded of={lines} what="the log">
      {(all) =>
        all.length === 0 ? (
          <Empty title="Nothing was logged">Output of log(…) in code, and messages of agents, appear here.</Empty>
        ) : (
          <ol className="flex flex-col text-xs">
            {all.map((line, at) => (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
                key={at}
                className="grid grid-cols-[11rem_4rem_10rem_1fr] gap-3 border-b border-line px-2 py-1.5 last:border-none"
              >
                <span className="text-ink-3 tabular-nums">{exactTime(line.at)}</span>
                <span className={tones[line.level]}>{line.level}</span>
                <span className="truncate text-ink-2">{line.node_id && nameOf(line.node_id)}</span>
                <span className="font-mono break-words whitespace-pre-wrap">{line.message}</span>
              </li>
            ))}
            {lines.more.hasMore && (
              <li className="py-2 text-center">
                <button type="button" className="text-accent underline" onClick={lines.more.load}>
                  Show more
                </button>
              </li>
            )}
          </ol>
        )
      }
    </Loaded>
  )
}
