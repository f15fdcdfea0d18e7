import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { storedVariables } from '#model/variables'
import { toWire } from '#platform/ids'
import { initiatorsOfFollower } from '../initiators.ts'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import { NodeFailure, Suspended } from '../node.ts'
import { workflowNamed } from '../nodes/subworkflow.ts'
import type { ChildEnd, Started, TriggerKind } from '../ports.ts'
import { inArea } from './area-call.ts'
import { childId } from './child-id.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { NoLongerNeeded } from './platform-retry.ts'

// The effects that start other executions.

const MAX_DEPTH = 16

/** Trigger kinds that children inherit, so that lists and statistics leave out a child like its parent. */
const PASSED_ON: ReadonlySet<TriggerKind> = new Set<TriggerKind>(['trial', 'job'])

const writtenArgs = (frame: Frame, node: string): JsonObject =>
  frame.context.graph.nodes.find(({ id }) => id === node)?.args ?? {}

/**
 * Starts a workflow as a child of the execution. If it is awaited, the node at `path` receives a message about its
 * end.
 */
async function startExecution(
  deps: EffectDeps,
  live: Live,
  { executionId, path, isAwaited }: { executionId: string; path: string; isAwaited: boolean },
  asked: { workflow_id: string; version_id?: string; input: Json },
): Promise<Started> {
  const { owned } = live
  if (owned.depth >= MAX_DEPTH) {
    throw new NodeFailure('too_deep', `workflows may start each other at most ${MAX_DEPTH} levels deep`, {
      retryable: false,
    })
  }
  const wanted = { ...asked, executionId: owned.executionId }
  const target = await inArea(deps, live, () => deps.ports.resolveWorkflow(owned.workspaceId, wanted))
  // A built-in workflow acts for the person the parent acts for.
  const principalId = target.principalId ?? owned.principalId
  const { vars } = owned.context
  return deps.startChild({
    ...target,
    executionId,
    workspaceId: owned.workspaceId,
    input: wanted.input,
    trigger: {
      kind: PASSED_ON.has(owned.trigger.kind) ? owned.trigger.kind : 'workflow',
      id: toWire('exe', owned.executionId),
    },
    startedBy: owned.startedBy,
    principalId,
    initiatedBy: initiatorsOfFollower(
      {
        kind: 'execution',
        executionId: owned.executionId,
        principalId: owned.principalId,
        chain: owned.initiatedBy,
      },
      principalId,
    ),
    ...(isAwaited && { tellEnd: true, parent: { executionId: owned.executionId, node: path } }),
    depth: owned.depth + 1,
    ...(owned.traceparent !== null && {
      labels: { traceparent: deps.ports.traceOf?.({ ...owned, nodePath: path }) ?? owned.traceparent },
    }),
    vars:
      vars && (storedVariables(await deps.ports.loadDefinition(owned.workspaceId, target.definitionRef), vars) ?? {}),
  })
}

/**
 * Cancels a child if its node stopped waiting for it while the child was being started. The commands and reports that
 * cancel the children of a node did not find it then. `isAwaited`: checks whether the node waits, in memory.
 */
async function cancelIfUnawaited(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  child: { executionId: string; isAwaited(): boolean },
): Promise<void> {
  const { workspaceId, executionId } = live.owned
  if (!live.isGone()) {
    if (live.frames.get(frame.prefix) === frame && child.isAwaited()) return
    // Waits until it is durable that the node no longer waits.
    if (await live.post(() => undefined)) return deps.cancelChild(workspaceId, child.executionId)
  }
  // An execution that has not ended is on another worker, which finds the child by its id.
  if (await deps.hasEnded(workspaceId, executionId)) await deps.cancelChild(workspaceId, child.executionId)
}

/**
 * Runs a workflow for a node that is still running, once for each `key`. Throws `Suspended` until the workflow has
 * ended.
 */
export async function runWorkflow(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  node: string,
  key: string,
  wanted: { workflow_id: string; input: JsonObject },
): Promise<ChildEnd> {
  const { workspaceId, executionId: parentId } = live.owned
  if (!namesWorkflow(writtenArgs(frame, node).tools, wanted.workflow_id))
    throw new NodeFailure('unknown_reference', 'the definition of the node does not allow this workflow', {
      retryable: false,
    })
  const executionId = childId(parentId, frame, node, key)
  // A started child is not resolved again: its workflow may have been deleted, but the child still exists.
  let found = await deps.findChild(workspaceId, executionId)
  if (!found) {
    await startExecution(deps, live, { executionId, path: frame.prefix + node, isAwaited: true }, wanted)
    const isAwaited = (): boolean => frame.state.nodes[node]?.status === 'running'
    await cancelIfUnawaited(deps, live, frame, { executionId, isAwaited })
    found = await deps.findChild(workspaceId, executionId)
  }
  if (found?.ended) return found.ended
  throw new Suspended({ kind: 'execution', execution_id: toWire('exe', executionId) })
}

/** Checks that the author named the workflow. Data must never choose which workflow runs. */
const namesWorkflow = (tools: Json | undefined, workflowId: string): boolean =>
  Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.workflow_id === workflowId)

async function startOnce(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'child' },
): Promise<(() => void) | undefined> {
  const { owned } = live
  const { node, attempt, args } = command
  const path = frame.prefix + node
  const executionId = childId(owned.executionId, frame, node, attempt)
  const tell = (end: ChildEnd) => () => live.sendUnawaited(frame, { kind: 'child', node, attempt, ...end })
  // The end of the child may already have arrived as a message.
  const isAwaited = (): boolean => {
    const self = frame.state.nodes[node]
    return self?.wait?.kind === 'execution' && self.attempt === attempt
  }
  if (!isAwaited()) return undefined
  // A started child is not resolved again: its workflow may have been deleted, but the child still exists.
  const before = command.again && (await deps.findChild(owned.workspaceId, executionId))
  const goesItsWay = args.wait === false
  const begun = tell({ results: { execution_id: toWire('exe', executionId) }, error: null })
  if (before && goesItsWay) return begun
  if (before) return before.ended ? tell(before.ended) : undefined
  const started = await startExecution(
    deps,
    live,
    { executionId, path, isAwaited: !goesItsWay },
    {
      workflow_id: workflowNamed(writtenArgs(frame, node), args),
      input: args.input ?? {},
      ...(typeof args.version_id === 'string' && { version_id: args.version_id }),
    },
  )
  if (goesItsWay) return begun
  await cancelIfUnawaited(deps, live, frame, { executionId, isAwaited })
  // An earlier try with an unknown outcome had started the child, which may have ended since.
  const found = started.replayed ? await deps.findChild(owned.workspaceId, executionId) : undefined
  return found?.ended ? tell(found.ended) : undefined
}

export async function startChild(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'child' },
): Promise<(() => void) | undefined> {
  const { node, attempt } = command
  try {
    return await deps.platformRetry(live, { frame, node }, () => startOnce(deps, live, frame, command))
  } catch (error) {
    if (error instanceof NoLongerNeeded) throw error
    return () => live.sendUnawaited(frame, { kind: 'child', node, attempt, results: null, error: errorOf(error) })
  }
}

/** Cancels the children of the nodes below `path`: of an item, or of the body of a map or loop. */
export async function abandonChildrenUnder(deps: EffectDeps, live: Live, path: string): Promise<undefined> {
  const { workspaceId, executionId } = live.owned
  await deps.platformRetry(live, { frame: live.top, node: path }, () =>
    deps.cancelChildrenUnder(workspaceId, executionId, path),
  )
}

export async function abandonChild(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'abandon' },
): Promise<undefined> {
  const { workspaceId, executionId } = live.owned
  const child = childId(executionId, frame, command.node, command.attempt)
  const node = frame.prefix + command.node
  await deps.platformRetry(live, { frame: live.top, node }, () => deps.cancelChild(workspaceId, child))
}
