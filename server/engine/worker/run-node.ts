import { credentialIdsIn } from '#model/credential-ids'
import type { Graph, Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import { compile } from '../interpreter/graph.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import { type NodeCall, NodeFailure, type NodeResult, NotStarted, Suspended } from '../node.ts'
import { checkedText, isLarge, offload } from '../outputs.ts'
import { platformFault } from '../platform-fault.ts'
import type { BlobRef } from '../ports.ts'
import { type Abortable, lazyAbort } from './abort.ts'
import { inArea } from './area-call.ts'
import { runWorkflow } from './child-effects.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { countOpenRequest } from './open-requests.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { closeRequest, waitOf } from './request-effects.ts'

// One attempt of a node with an effect: its call, its timeout, its output.

const PROGRESS_EVERY = 250
const OUTCOME_UNKNOWN =
  'the service had a problem while this node was running; the node may have taken effect, so it was not retried'

const namedCredentials = (graph: Graph, node: string): ReadonlySet<string> =>
  new Set([...credentialIdsIn(compile(graph).nodes.get(node)?.args)].map(({ id }) => id))

const failure = (command: Command & { attempt: number }, error: unknown): GraphMessage => ({
  kind: 'error',
  node: command.node,
  attempt: command.attempt,
  error: errorOf(error),
  retryable: !(error instanceof NodeFailure) || error.retryable,
  ...(error instanceof NodeFailure && error.nothingDone && { nothingDone: true }),
  ...(error instanceof NodeFailure && error.retryAfterS !== undefined && { retryAfterS: error.retryAfterS }),
})

/** Returns the fields that identify the node in a log line, with public ids. */
const logFields = ({ owned }: Live, node: string) => ({
  workspace_id: toWire('ws', owned.workspaceId),
  execution_id: toWire('exe', owned.executionId),
  node,
})

function callOf(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'run' },
  path: string,
  controller: Abortable,
): NodeCall {
  const { owned } = live
  let shown = 0
  return {
    workspaceId: owned.workspaceId,
    workflowId: owned.workflowId,
    executionId: owned.executionId,
    nodePath: path,
    attempt: command.attempt,
    args: command.args,
    get effectKey() {
      // A retried map gives its items paths with the attempt number. It is removed, so that their effect keys stay
      // the same.
      return `${toWire('exe', owned.executionId)}:${path.replaceAll(/#\d+(?=\[)/g, '')}`
    },
    principalId: owned.principalId,
    get credentialIds() {
      return namedCredentials(frame.context.graph, command.node)
    },
    startedBy: owned.startedBy,
    get traceparent() {
      const { executionId, traceparent } = owned
      return deps.ports.traceOf?.({ executionId, traceparent, nodePath: path })
    },
    triggerId: owned.trigger.id,
    timeoutS: command.timeoutS,
    get signal() {
      return controller.signal
    },
    // The logger is created on first use, because few nodes log.
    get log() {
      return deps.log.child(logFields(live, path))
    },
    say: async (key, lines) => {
      const at = { workspaceId: owned.workspaceId, executionId: owned.executionId, nodePath: path }
      await deps.ports.keepLog?.(at, key, lines)
    },
    progress: (data) => {
      const now = performance.now()
      if (now - shown < PROGRESS_EVERY || frame.item) return
      shown = now
      try {
        const { value } = checkedText({ data })
        void live.send(frame, { kind: 'progress', node: command.node, data: value as JsonObject })
      } catch {
        // Progress may be lost: data that cannot be stored is not shown.
      }
    },
    step: async <T extends Json>(name: string, work: () => Promise<T>): Promise<T> => {
      const steps = frame.state.nodes[command.node]?.steps ?? {}
      if (Object.hasOwn(steps, name)) return steps[name] as T
      const result = await work()
      const { value } = checkedText(result)
      const durable = await live.send(frame, { kind: 'step', node: command.node, name, result: value })
      if (!durable || controller.aborted) throw new NodeFailure('aborted', 'this attempt has ended')
      return result
    },
    openGate: async (gate, editable) => {
      countOpenRequest(live, frame, { node: command.node, args: gate })
      const wait = { ...waitOf(live, frame, command.node, gate), ...(editable && { editable }) }
      const opened = await inArea(deps, live, () => deps.ports.openGate(wait))
      if (opened.settled?.type === 'approval.resolved') return opened.settled
      throw new Suspended({ kind: 'approval', data: opened.data, dueAt: opened.dueAt?.getTime() ?? null })
    },
    describeWorkflow: (workflow_id) =>
      inArea(deps, live, () =>
        deps.ports.describeWorkflow(owned.workspaceId, { workflow_id, executionId: owned.executionId }),
      ),
    runWorkflow: (key, wanted) => runWorkflow(deps, live, frame, command.node, key, wanted),
  }
}

async function runOnce(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'run' },
): Promise<NodeResult> {
  const path = frame.prefix + command.node
  const kind = Object.hasOwn(deps.ports.nodes, command.type) ? deps.ports.nodes[command.type] : undefined
  const controller = lazyAbort()
  live.effects.set(path, controller)
  let timer: NodeJS.Timeout | undefined
  try {
    if (!kind)
      throw new NodeFailure('unknown_node_type', `there is no node type "${command.type}"`, { retryable: false })
    const missing = kind.unavailable?.()
    if (missing) throw new NodeFailure('provider_not_configured', missing, { retryable: false })
    const running = kind.run(callOf(deps, live, frame, command, path, controller))
    const { timeoutS } = command
    if (timeoutS === undefined) return await running
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new NodeFailure('timeout', `the node took longer than its ${timeoutS} s`))
        controller.abort()
      }, timeoutS * SECOND)
    })
    return await Promise.race([running, late])
  } catch (error) {
    if (error instanceof NotStarted) throw error.cause
    // An `at_most_once` node is not retried, regardless of the cause of the error.
    if (frame.context.effectOf(command.type, command.args) !== 'at_most_once' || !platformFault(error, 'node'))
      throw error
    throw new NodeFailure('outcome_unknown', OUTCOME_UNKNOWN, { retryable: false })
  } finally {
    clearTimeout(timer)
    if (live.effects.get(path) === controller) live.effects.delete(path)
  }
}

/**
 * Stores a large output. The call succeeded and is not repeated, so its output is kept in memory until it is stored.
 * An execution that is released before that keeps the output in its journal.
 */
async function storeOutput(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  node: string,
  text: string,
): Promise<BlobRef | undefined> {
  if (!isLarge(text)) return undefined
  try {
    return await deps.platformRetry(live, { frame, node }, () => offload(deps.ports.blobs, live.owned, text))
  } catch (error) {
    if (error instanceof NoLongerNeeded && live.isReleasing()) return undefined
    throw error
  }
}

export async function runNode(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'run' },
): Promise<() => void> {
  const { node, attempt } = command
  try {
    const result = await deps.platformRetry(live, { frame, node, origin: 'node' }, () =>
      runOnce(deps, live, frame, command),
    )
    const { value, text } = checkedText(result.output)
    const blob = await storeOutput(deps, live, frame, node, text)
    const message: GraphMessage = { kind: 'done', node, attempt, output: value }
    if (blob) message.blob = blob
    if (result.port !== undefined) message.port = result.port
    if (result.usage) message.usage = result.usage
    return () => live.sendUnawaited(frame, message)
  } catch (error) {
    if (error instanceof NoLongerNeeded) throw error
    if (error instanceof Suspended) {
      // The item or its map ended in the meantime.
      if (live.frames.get(frame.prefix) !== frame) return (await closeRequest(deps, live, frame, node)) ?? (() => {})
      return () => live.sendUnawaited(frame, { kind: 'suspended', node, attempt, on: error.on })
    }
    if (!(error instanceof NodeFailure))
      deps.log.warn({ err: error, ...logFields(live, frame.prefix + node) }, 'a node threw')
    return () => live.sendUnawaited(frame, failure(command, error))
  }
}
