import { RotateCcw, X } from 'lucide-react'
import type { Node as DefinitionNode } from '#model/definition'
import type { Execution } from '#sdk/types.generated'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Facts } from '#web/ui/page.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { firstInside } from './body-steps.ts'
import { useKindTitles } from './kind-titles.ts'
import type { NodeRun } from './shown-runs.ts'
import { StepDetail } from './step-detail.tsx'
import { isUsage, usageText } from './usage-words.ts'

/** One step of an execution: its input, its output, its errors. */
export function NodePanel({
  execution,
  path,
  node,
  definition,
  onRetry,
  onOpen,
  onClose,
}: {
  execution: Execution
  /** The address of the step in the execution; inside a map `each[3].line`. */
  path: string
  node: NodeRun | undefined
  definition: DefinitionNode | undefined
  /** Absent for users who may not retry. */
  onRetry?: (() => void) | undefined
  /** Shows a node inside the body of this node. */
  onOpen(path: string): void
  onClose(): void
}) {
  const titleOf = useKindTitles()
  const title = definition?.name || definition?.id || path
  return (
    <div className="@container flex flex-col gap-4">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{title}</h2>
          <p className="text-xs text-ink-2">{definition ? titleOf(definition.type) : 'step'}</p>
        </div>
        <IconButton icon={X} label="Close the step" size="small" onClick={onClose} />
      </div>
      {node === undefined || node.status === 'pending' ? (
        <p className="text-ink-2">This step has not run.</p>
      ) : (
        <>
          <Facts
            facts={[
              ['State', <StatusBadge key="state" status={node.status} />],
              ['Attempts', node.attempt || '–'],
              ['Started', <RelativeTime key="began" at={node.started_at} />],
              ['Duration', <Duration key="took" from={node.started_at} to={node.finished_at} />],
              ...(isUsage(node.usage) ? ([['Models', usageText(node.usage)]] satisfies [string, string][]) : []),
            ]}
          />
          {node.error && <Failure error={node.error} />}
          <StepDetail
            key={path}
            execution={execution}
            node={node}
            path={path}
            title={title}
            inside={definition && firstInside(definition)}
            onOpen={onOpen}
          />
        </>
      )}
      {definition?.args && (
        <details>
          <summary className="text-ink-2">Arguments before evaluation</summary>
          <div className="mt-2">
            <JsonView value={definition.args} label="Arguments" />
          </div>
        </details>
      )}
      {onRetry && node && node.status !== 'pending' && (
        <Button icon={RotateCcw} onClick={onRetry}>
          Run again from this step
        </Button>
      )}
    </div>
  )
}

export const Failure = ({ error }: { error: { code: string; message: string; details?: unknown } }) => (
  <div className="rounded-md bg-danger-soft px-3 py-2">
    <p className="font-medium text-danger">{translateMessage(error.message)}</p>
    <p className="mt-0.5 font-mono text-xs text-ink-2">{error.code}</p>
    {error.details !== undefined && error.details !== null && (
      <JsonView value={error.details} label="Details of the error" className="mt-2" />
    )}
  </div>
)
