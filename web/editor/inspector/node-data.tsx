import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isObject } from '#model/json'
import { api } from '#web/api.ts'
import { Badge, StatusBadge } from '#web/ui/badge.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Duration } from '#web/ui/time.tsx'
import { PinButton } from '../run/effects.tsx'
import { useEditor } from '../store.ts'

/** What the node gave in the run that is shown. */
export function NodeDataTab({ id }: { id: string }) {
  const execution = useEditor((state) => state.execution)
  const run = execution?.nodes.find((node) => node.node_id === id)
  if (!execution) return null
  if (!run) return <p className="text-ink-3">This step has not run.</p>
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
          <span className="font-mono text-xs">{run.error.code}</span> {run.error.message}
        </p>
      )}
      {run.output !== undefined && (
        <Output
          executionId={execution.execution_id}
          output={run.output}
          pin={(output) =>
            execution.workflow_id && <PinButton id={id} workflowId={execution.workflow_id} output={output} />
          }
        />
      )}
    </div>
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
