import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Ban, RotateCcw, WifiOff } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { bodyOf } from '#model/body'
import type { Definition, Node as DefinitionNode } from '#model/definition'
import { type NodePath, parsePath, pathTo } from '#model/node-path'
import type { Execution, Workflow } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Loaded, Skeleton } from '#web/ui/states.tsx'
import { Tabs } from '#web/ui/tabs.tsx'
import { Duration, RelativeTime } from '#web/ui/time.tsx'
import { workflowName } from '../workflows/built-in.ts'
import { mayChange, mayUse, roleIn, type WorkflowRole } from '../workflows/role.ts'
import { definitionOf, useVersion } from '../workflows/versions-of.ts'
import { DebugButton, ReceiptButton } from './after-run.tsx'
import { nodeAt } from './body-steps.ts'
import { ExecutionData } from './execution-data.tsx'
import { Journal } from './journal.tsx'
import { type Connection, useLiveExecution } from './live.ts'
import { RunLog } from './log.tsx'
import { Failure, NodePanel } from './node-panel.tsx'
import { RetryDialog } from './retry-dialog.tsx'
import { SearchSteps } from './search-steps.tsx'
import { useShownRuns } from './shown-runs.ts'
import { Timeline } from './timeline.tsx'
import { isUsage, usageText } from './usage-words.ts'
import { WaitingFor } from './waiting.tsx'
import { finished } from './words.ts'

const RunSteps = lazy(() => import('./run-steps.tsx').then((module) => ({ default: module.RunSteps })))

export function RunPage() {
  const execution_id = useParams({ strict: false }).execution_id as unknown as string
  return <Run key={execution_id} execution_id={execution_id} />
}

function Run({ execution_id }: { execution_id: string }) {
  const { execution, connection, frames, ended } = useLiveExecution(execution_id)
  const found = execution.data
  const workflow = useApi(
    'getWorkflow',
    { workflow_id: found?.workflow_id ?? '' },
    { enabled: Boolean(found?.workflow_id) },
  )
  const definition = useDefinition(found, workflow.data)
  const name = workflow.data ? workflowName(workflow.data) : 'A run'
  const { userId } = useRole()
  const mayAct = found !== undefined && maySteer(found, workflow.data ? roleIn(workflow.data, userId) : 'none', userId)
  const [retrying, setRetrying] = useState<string | null>(null)
  const { nameOf: personOf } = usePeople()

  return (
    <Page
      wide
      title={`${name} · run`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          {name}
          {found && <StatusBadge status={found.status} />}
        </span>
      }
      crumbs={[
        { label: 'Runs', to: '/runs' },
        ...(found?.workflow_id && workflow.data ? [{ label: name, to: `/workflows/${found.workflow_id}` }] : []),
      ]}
      description={
        found && (
          <>
            Started <RelativeTime at={found.created_at} />
            {found.started_by === userId ? <> by you</> : found.started_by && <> by {personOf(found.started_by)}</>},{' '}
            {ended ? 'took' : 'so far'} <Duration from={found.created_at} to={found.finished_at} />
            {isUsage(found.usage) && found.usage.calls > 0 && <>, {usageText(found.usage)}</>}
            {found.trial && <>. A trial of a draft</>}
            {found.retry_of && (
              <>
                . A retry of{' '}
                <Link to={`/runs/${found.retry_of}`} className="text-accent underline">
                  an earlier run
                </Link>
              </>
            )}
          </>
        )
      }
      actions={
        found && (
          <>
            {ended && !found.trial && <ReceiptButton execution_id={execution_id} />}
            {ended && found.workflow_id && workflow.data && mayChange(roleIn(workflow.data, userId)) && (
              <DebugButton execution={found} workflowId={found.workflow_id} />
            )}
            {mayAct && <Actions execution={found} onRetry={setRetrying} />}
          </>
        )
      }
    >
      {!ended && <LineState connection={connection} />}
      <Loaded of={execution} what="the run" rows={6}>
        {(run) => (
          <Body
            execution={run}
            frames={frames}
            definition={definition}
            {...(mayAct && ended && !run.trial && { onRetry: setRetrying })}
          />
        )}
      </Loaded>
      <RetryDialog
        execution_id={execution_id}
        from={retrying}
        nodes={definition?.nodes ?? []}
        onClose={() => setRetrying(null)}
      />
    </Page>
  )
}

/**
 * Checks who may cancel and retry: the workflow's owner and members; for a built-in workflow, the person who started
 * the execution.
 */
const maySteer = (run: Execution, role: WorkflowRole, userId: string): boolean => {
  const system = run.workflow_id !== null && !run.workflow_id.startsWith('wf_')
  return system ? run.started_by === userId : mayUse(role)
}

/**
 * Returns the graph of this execution, for users who may read the workflow's versions; a built-in workflow has a single
 * graph.
 */
function useDefinition(run: Execution | undefined, workflow: Workflow | undefined): Definition | undefined {
  const { version } = useVersion(run?.workflow_id ?? null, run?.version_id ?? null)
  const isTrial = run?.trial === true
  const trial = useApi('getTrial', { execution_id: run?.execution_id ?? '' }, { enabled: isTrial })
  const whole = isTrial ? trial.data?.definition : workflow?.definition
  return useMemo(() => (version ? definitionOf(version) : (whole as Definition | undefined)), [version, whole])
}

const LineState = ({ connection }: { connection: Connection }) =>
  connection === 'lost' ? (
    <p role="status" className="mb-4 flex items-center gap-2 rounded-md bg-waiting-soft px-3 py-2">
      <WifiOff aria-hidden className="size-4 text-waiting" />
      Connection lost. This page may be out of date. Reconnecting…
    </p>
  ) : null

function Actions({ execution, onRetry }: { execution: Execution; onRetry(from: string): void }) {
  const [cancelling, setCancelling] = useState(false)
  const cancel = useChange('cancelExecution', {
    stale: ['getExecution', 'searchExecutions', 'listExecutions'],
    done: 'Cancelling the run',
  })
  const failed = execution.status === 'failed' || execution.status === 'timed_out' || execution.status === 'cancelled'
  if (!finished.has(execution.status)) {
    return (
      <>
        <Button icon={Ban} onClick={() => setCancelling(true)}>
          Cancel run
        </Button>
        <ConfirmDialog
          open={cancelling}
          onClose={() => setCancelling(false)}
          title="Cancel this run?"
          consequence="Running steps are stopped, and open questions and approvals are closed. Effects on other systems are not undone."
          action="Cancel run"
          onConfirm={() => cancel.mutateAsync({ execution_id: execution.execution_id })}
        />
      </>
    )
  }
  if (execution.trial) return null
  return (
    <Button
      icon={RotateCcw}
      look={failed ? 'primary' : 'secondary'}
      onClick={() => onRetry(failed ? 'failed' : 'start')}
    >
      Run again
    </Button>
  )
}

type BodyProps = {
  execution: Execution
  frames: Parameters<typeof Journal>[0]['frames']
  definition: Definition | undefined
  onRetry?: (from: string) => void
}

function Body({ execution, frames, definition, onRetry }: BodyProps) {
  const { node: selected = null } = useSearch({ strict: false }) as { node?: string }
  const navigate = useNavigate()
  const select = useMemo(
    () => (node: string | null) =>
      void navigate({
        to: `/runs/${execution.execution_id}`,
        search: ((before: object) => ({ ...before, node: node ?? undefined })) as never,
        replace: true,
      }),
    [navigate, execution.execution_id],
  )
  const nameOf = useMemo(() => {
    const names = namesIn(definition?.nodes ?? [])
    return (id: string): string => names.get(id) ?? id
  }, [definition])
  const ids = execution.nodes.map(({ node_id }) => node_id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another graph only where there are other nodes
  const graph = useMemo(
    () => definition ?? { nodes: execution.nodes.map(({ node_id }) => ({ id: node_id, type: 'step' })), edges: [] },
    [definition, ids],
  )
  const at = useMemo(() => addressIn(graph, selected), [graph, selected])
  const shown = useShownRuns(execution, at)
  return (
    <>
      <WaitingFor execution={execution} nameOf={nameOf} />
      {execution.error && !execution.nodes.some(({ error }) => error?.message === execution.error?.message) && (
        <div className="mb-6">
          <Failure error={execution.error} />
        </div>
      )}
      <Card className="mb-6 overflow-hidden p-0">
        <Suspense fallback={<Skeleton className="h-80 w-full" />}>
          <RunSteps execution={execution} definition={graph} at={at} shown={shown} nameOf={nameOf} onSelect={select} />
        </Suspense>
      </Card>
      <div className="grid gap-6 xl:grid-cols-[1fr_minmax(26rem,40%)]">
        <div className="min-w-0">
          <Tabs
            tabs={[
              {
                value: 'timeline',
                label: 'Timeline',
                content: (
                  <SearchSteps execution={execution} definition={graph} selected={selected} onSelect={select}>
                    <Timeline execution={execution} nameOf={nameOf} selected={selected} onSelect={select} />
                  </SearchSteps>
                ),
              },
              {
                value: 'journal',
                label: 'Journal',
                content: <Journal execution_id={execution.execution_id} frames={frames} nameOf={nameOf} />,
              },
              {
                value: 'log',
                label: 'Log',
                content: <RunLog execution_id={execution.execution_id} seen={frames.length} nameOf={nameOf} />,
              },
            ]}
          />
        </div>
        <aside aria-label={at ? 'Selected step' : 'Input and output'} className="min-w-0">
          {at ? (
            <NodePanel
              execution={execution}
              path={pathTo(at)}
              node={shown.runs.get(at.node)}
              definition={nodeAt(graph, at)}
              onRetry={onRetry && at.bodies.length === 0 ? () => onRetry(at.node) : undefined}
              onOpen={select}
              onClose={() => select(null)}
            />
          ) : (
            <InputAndResult execution={execution} />
          )}
        </aside>
      </div>
    </>
  )
}

/** Returns the names of all nodes, including those inside maps and loops. */
function namesIn(nodes: readonly DefinitionNode[], names = new Map<string, string>()): Map<string, string> {
  for (const node of nodes) {
    names.set(node.id, node.name || node.id)
    const body = bodyOf(node)?.nodes
    if (Array.isArray(body)) namesIn(body as unknown as DefinitionNode[], names)
  }
  return names
}

/** Returns the node in the address of the page, if the graph contains it. */
function addressIn(graph: Pick<Definition, 'nodes'>, address: string | null): NodePath | undefined {
  const path = address === null ? undefined : parsePath(address)
  return path && nodeAt(graph, path) ? path : undefined
}

function InputAndResult({ execution }: { execution: Execution }) {
  return (
    <div className="flex flex-col gap-5">
      {finished.has(execution.status) && (
        <div>
          <h2 className="mb-1 font-semibold">Output</h2>
          {execution.error ? (
            <Failure error={execution.error} />
          ) : (
            <ExecutionData value={execution.results} label="Output" execution_id={execution.execution_id} />
          )}
        </div>
      )}
      <div>
        <h2 className="mb-1 font-semibold">Input</h2>
        <ExecutionData value={execution.input} label="Input" execution_id={execution.execution_id} />
      </div>
      <p className="text-ink-2">Select a step to see its input and output.</p>
    </div>
  )
}
