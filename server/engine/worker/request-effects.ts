import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import { NodeFailure } from '../node.ts'
import type { Settled, WaitRequest } from '../ports.ts'
import { LazyAbort } from './abort.ts'
import { inArea } from './area-call.ts'
import type { EffectDeps } from './effect-deps.ts'
import { type Frame, settlingOf, splitPath } from './frame.ts'
import type { Live } from './live-types.ts'
import { countOpenRequest } from './open-requests.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { messageOf } from './signals.ts'

// Opens and closes gates, questions and awaited events, and settles those that are due.

const DUE_LATER = 60 * SECOND

const openersOf = ({ ports }: EffectDeps) => ({
  approval: ports.openGate,
  clarification: ports.askQuestion,
  event: ports.awaitEvent,
})

export function waitOf(live: Live, frame: Frame, node: string, args: JsonObject): WaitRequest {
  const { workspaceId, executionId, workflowId, versionId, startedBy, initiatedBy, input } = live.owned
  const about = { workspaceId, executionId, workflowId, versionId, startedBy, initiatedBy, input }
  const attempt = frame.state.nodes[node]?.attempt ?? 1
  return { ...about, nodePath: frame.prefix + node, nodeId: node, attempt, args }
}

export async function closeRequest(deps: EffectDeps, live: Live, frame: Frame, node: string): Promise<undefined> {
  const { workspaceId, executionId } = live.owned
  const path = frame.prefix + node
  try {
    // Uses the top frame, because the frame of the node may have ended; that is why the gate or question is closed.
    await deps.platformRetry(live, { frame: live.top, node: path }, () =>
      deps.areaCalls(workspaceId, () => deps.ports.closeAbandoned({ workspaceId, executionId, path })),
    )
  } catch (error) {
    if (error instanceof NoLongerNeeded) throw error
    deps.log.warn(
      { err: error, execution_id: executionId },
      'a gate or question could not be closed; it closes when its execution ends',
    )
  }
}

function refuse(live: Live, frame: Frame, node: string, error: unknown): void {
  const { status, attempt = 1 } = frame.state.nodes[node] ?? {}
  // A node that already waits was only checked again.
  if (status === 'waiting') live.sendUnawaited(frame, { kind: 'refused', node, error: errorOf(error) })
  else live.sendUnawaited(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable: false })
}

/**
 * Continues with a gate or question that has already ended. Its messages are read first, because they also say who
 * voted. The outcome is used if the messages were read before the node waited for them.
 */
async function continueWith(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  opened: GraphMessage,
  settled: Settled,
): Promise<() => void> {
  const { node } = splitPath(settled.nodePath)
  await live.send(frame, opened)
  await deps.platformRetry(live, { frame, node }, () => live.readInbox())
  const outcome = messageOf(settled, node, frame.state.nodes[node]?.attempt ?? 1)
  return () => outcome && live.sendUnawaited(frame, outcome)
}

export async function openRequest(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'open' },
): Promise<(() => void) | undefined> {
  const { node, people } = command
  const wait = waitOf(live, frame, node, command.args)
  try {
    countOpenRequest(live, frame, command)
    const opened = await deps.platformRetry(live, { frame, node }, () =>
      inArea(deps, live, () => openersOf(deps)[people](wait)),
    )
    // The item or its map ended in the meantime.
    if (live.frames.get(frame.prefix) !== frame) return await closeRequest(deps, live, frame, node)
    const dueAt = opened.dueAt?.getTime() ?? null
    const message: GraphMessage = { kind: 'opened', node, people, data: opened.data, dueAt }
    const { settled } = opened
    return settled ? await continueWith(deps, live, frame, message, settled) : () => live.sendUnawaited(frame, message)
  } catch (error) {
    if (error instanceof NoLongerNeeded) throw error
    if (!(error instanceof NodeFailure))
      deps.log.error({ err: error, execution_id: live.owned.executionId }, 'a gate or question could not be opened')
    return () => refuse(live, frame, node, error)
  }
}

export async function settleDue(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: 'due' },
): Promise<(() => void) | undefined> {
  const { node, people } = command
  const path = frame.prefix + node
  const settling = settlingOf(path)
  if (live.effects.has(settling)) return undefined
  live.effects.set(settling, new LazyAbort())
  const { workspaceId, executionId } = live.owned
  let dueAt: number | null
  try {
    const ask = () =>
      inArea(deps, live, () => deps.ports.due({ workspaceId, executionId, nodePath: path, kind: people }))
    dueAt = (await deps.platformRetry(live, { frame, node }, ask)).dueAt?.getTime() ?? null
  } catch (error) {
    if (error instanceof NoLongerNeeded) throw error
    deps.log.error({ err: error, execution_id: executionId }, 'an overdue gate or question could not be settled yet')
    dueAt = deps.clock() + DUE_LATER
  } finally {
    live.effects.delete(settling)
  }
  // The decision of the area has arrived as a message to this execution.
  live.checkInbox()
  return () => live.sendUnawaited(frame, { kind: 'postponed', node, people, dueAt })
}
