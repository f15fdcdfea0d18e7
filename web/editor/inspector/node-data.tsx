import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isObject } from '#model/json'
import { api, useApi } from '#web/api.ts'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Duration } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { MockOutput, PinButton } from '../run/pinned-output.tsx'
import { useEditor } from '../store.ts'
import { ComparedOutput } from './compared-output.tsx'

/** The output and the input of the node in the shown execution, and the output that test runs should use. */
export function NodeDataTab({ id }: { id: string }) {
  const execution = useEditor((state) => state.execution)
  const run = execution?.nodes.find((node) => node.node_id === id)
  if (!execution || !run)
    return (
      <div className="flex flex-col items-start gap-3">
        <p className="text-ink-3">This step has not run.</p>
        <MockOutput id={id} begin={undefined} />
      </div>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge status={run.status} />
        {run.attempt > 1 && <Badge>{run.attempt} attempts</Badge>}
        <span className="text-xs text-ink-3">
          <Duration from={run.started_at} to={run.finished_at} />
        </span>
      </div>
      {run.error && (
        <p className="rounded-md bg-danger-soft px-3 py-2 break-words text-danger">
          <span className="font-mono text-xs">{run.error.code}</span> {translateMessage(run.error.message)}
        </p>
      )}
      {run.output !== undefined ? (
        <Output
          executionId={execution.execution_id}
          output={run.output}
          pin={(output) => (
            <span className="flex flex-wrap gap-2">
              <PinButton id={id} output={output} />
              <MockOutput id={id} begin={output} />
            </span>
          )}
        />
      ) : (
        <div>
          <MockOutput id={id} begin={undefined} />
        </div>
      )}
      <ComparedOutput id={id} />
      <ResolvedInput executionId={execution.execution_id} id={id} />
    </div>
  )
}

/** The resolved arguments of the step, fetched when the user opens them. */
function ResolvedInput({ executionId, id }: { executionId: string; id: string }) {
  const [open, setOpen] = useState(false)
  const detail = useApi('getExecutionNode', { execution_id: executionId, path: id, limit: 1 }, { enabled: open })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-xs text-ink-2">Input of the step</summary>
      <div className="mt-1">
        {detail.data?.input ? (
          <JsonView label="Input" value={detail.data.input} />
        ) : (
          <p className="text-ink-3">{detail.isFetching ? 'Loading…' : 'It is not stored.'}</p>
        )}
      </div>
    </details>
  )
}

function Output({
  executionId,
  output,
  pin,
}: {
  executionId: string
  output: unknown
  pin(output: unknown): ReactNode
}) {
  const sha256 = isObject(output) && typeof output.$blob === 'string' ? (output.$blob.split('/').at(-1) ?? null) : null
  const whole = useQuery({
    queryKey: ['readExecutionBlob', executionId, sha256],
    enabled: sha256 !== null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const answer: unknown = await api.readExecutionBlob({ execution_id: executionId, sha256: sha256! })
      return answer instanceof Blob ? (JSON.parse(await answer.text()) as unknown) : answer
    },
  })
  const shown = sha256 === null ? output : whole.data
  return shown === undefined ? (
    <p className="text-ink-3">Loading a large output…</p>
  ) : (
    <>
      <JsonView label="Output" value={shown} />
      <div>{pin(shown)}</div>
    </>
  )
}
