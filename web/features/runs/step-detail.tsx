import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { rowsOf } from '#model/node-path'
import type { Execution, ExecutionNodeDetail } from '#sdk/types.generated'
import { query } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Loading } from '#web/ui/states.tsx'
import { Duration } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { AgentTurns } from './agent-turns.tsx'
import { ExecutionData } from './execution-data.tsx'
import type { NodeRun } from './shown-runs.ts'
import { StepItems } from './step-items.tsx'
import { isUsage, usageText } from './usage-words.ts'

/**
 * The input and the output of a step, side by side if there is space; each attempt; the items of a map, the iterations
 * of a loop.
 */
export function StepDetail({
  execution,
  node,
  path,
  title,
  inside,
  onOpen,
}: {
  execution: Execution
  node: NodeRun
  path: string
  title: string
  /** For a map or loop: the first node of its body. */
  inside: string | undefined
  onOpen(path: string): void
}) {
  const { execution_id } = execution
  const detail = useQuery({
    ...query('getExecutionNode', { execution_id, path }),
    // The data of a step is read again when the step or the execution progresses.
    queryKey: ['getExecutionNode', { execution_id, path }, node.status, node.attempt, execution.status],
    placeholderData: keepPreviousData,
    refetchInterval: execution.finished_at === null ? 3_000 : false,
  })
  if (detail.isPending) return <Loading rows={3} />
  if (!detail.data)
    return (
      <>
        <p className="text-ink-2">The input of this step is no longer stored.</p>
        {node.output !== undefined && (
          <ExecutionData value={node.output} label={`Output of ${title}`} execution_id={execution_id} />
        )}
      </>
    )
  return (
    <div className="flex flex-col gap-5">
      <InputAndOutput execution_id={execution_id} detail={detail.data} title={title} />
      <AgentTurns detail={detail.data} execution_id={execution_id} />
      {detail.data.attempts.length > 1 && <Attempts detail={detail.data} />}
      <StepItems
        execution_id={execution_id}
        detail={detail.data}
        path={path}
        {...(inside !== undefined && {
          onOpen: (index: number) => onOpen(`${rowsOf('', path, node.attempt)}[${index}].${inside}`),
        })}
      />
    </div>
  )
}

type Detailed = { execution_id: string; detail: ExecutionNodeDetail }

function InputAndOutput({ execution_id, detail, title }: Detailed & { title: string }) {
  const last = detail.attempts.at(-1)
  return (
    <div className="grid gap-4 @2xl:grid-cols-2">
      <section aria-label="Resolved input" className="min-w-0">
        <h3 className="mb-1 font-medium">Input</h3>
        {detail.input ? (
          <ExecutionData value={detail.input} label={`Input of ${title}`} execution_id={execution_id} />
        ) : (
          <p className="text-ink-2">
            {detail.input_error === null ? 'It has no input.' : translateMessage(detail.input_error)}
          </p>
        )}
      </section>
      <section aria-label="Output of the step" className="min-w-0">
        <h3 className="mb-1 font-medium">Output</h3>
        {last?.output === undefined ? (
          <p className="text-ink-2">{last?.error ? 'It failed and has no output.' : 'Nothing yet.'}</p>
        ) : (
          <ExecutionData value={last.output} label={`Output of ${title}`} execution_id={execution_id} />
        )}
      </section>
    </div>
  )
}

const Attempts = ({ detail }: { detail: ExecutionNodeDetail }) => (
  <section aria-label="Attempts">
    <h3 className="mb-1 font-medium">Attempts</h3>
    <ol className="flex flex-col gap-2">
      {detail.attempts.map((attempt) => (
        <li key={attempt.attempt} className="rounded-md border border-line p-2.5">
          <div className="flex items-center gap-2">
            <span className="text-ink-2">{attempt.attempt}.</span>
            <StatusBadge status={attempt.status} />
            <span className="text-xs text-ink-2">
              <Duration from={attempt.started_at} to={attempt.finished_at} />
            </span>
          </div>
          {attempt.error && (
            <p className="mt-1 break-words text-danger">
              <code className="font-mono text-xs">{attempt.error.code}</code> {translateMessage(attempt.error.message)}
            </p>
          )}
          {isUsage(attempt.usage) && <p className="mt-1 text-xs text-ink-2">{usageText(attempt.usage)}</p>}
        </li>
      ))}
    </ol>
  </section>
)
