import { SECOND } from '#platform/clock'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import { NodeFailure, type NodeResult, NotStarted, Suspended } from '../node.ts'
import { checkedText, isLarge, offload } from '../outputs.ts'
import { platformFault } from '../platform-fault.ts'
import type { BlobRef } from '../ports.ts'
import { LazyAbort } from './abort.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { LiveCall, logFields } from './node-call.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { closeRequest } from './request-effects.ts'

// One attempt of a node with an effect: its call, its timeout, its output.

const OUTCOME_UNKNOWN =
  'the service had a problem while this node was running; the node may have taken effect, so it was not retried'

const failure = (command: Command & { attempt: number }, error: unknown): GraphMessage => ({
  kind: 'error',
  node: command.node,
  attempt: command.attempt,
  error: errorOf(error),
  retryable: !(error instanceof NodeFailure) || error.retryable,
  ...(error instanceof NodeFailure && error.nothingDone && { nothingDone: true }),
  ...(error instanceof NodeFailure && error.retryAfterS !== undefined && { retryAfterS: error.retryAfterS }),
})

async function runOnce(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'run' },
): Promise<NodeResult> {
  const path = frame.prefix + command.node
  const kind = Object.hasOwn(deps.ports.nodes, command.type) ? deps.ports.nodes[command.type] : undefined
  const controller = new LazyAbort()
  live.effects.set(path, controller)
  let timer: NodeJS.Timeout | undefined
  try {
    if (!kind)
      throw new NodeFailure('unknown_node_type', `there is no node type "${command.type}"`, { retryable: false })
    const missing = kind.unavailable?.()
    if (missing) throw new NodeFailure('provider_not_configured', missing, { retryable: false })
    const running = kind.run(new LiveCall(deps, live, { frame, command, path }, controller))
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
