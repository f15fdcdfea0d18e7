import type { Json } from '#model/definition'
import type { Scope } from '#model/expressions'
import type { Command } from '../interpreter/commands.ts'
import type { Context } from '../interpreter/context.ts'
import { errorOf } from '../interpreter/errors.ts'
import { scopeAt } from '../interpreter/scope.ts'
import type { GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { NodeFailure } from '../node.ts'
import { checkedText, isLarge, offload } from '../outputs.ts'
import { callbacksIn } from './callbacks.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { NoLongerNeeded } from './platform-retry.ts'

// The common part of a map and a loop: a body that runs in separate frames, each with a row, and an output that is
// built from them.

export type Body<Of extends 'map' | 'loop'> = {
  readonly deps: EffectDeps
  readonly live: Live
  readonly frame: Frame
  readonly command: Command & { do: Of }
  readonly path: string
  readonly around: Scope
}

type AnyBody = Body<'map' | 'loop'>

export function makeBody<Of extends 'map' | 'loop'>(
  deps: EffectDeps,
  live: Live,
  frame: Frame,
  command: Command & { do: Of },
): Body<Of> {
  const { node, attempt } = command
  return {
    deps,
    live,
    frame,
    command,
    path: frame.prefix + node + (attempt > 1 ? `#${attempt}` : ''),
    around: scopeAt(frame.context, frame.state, frame.state.nodes[node]?.ready ?? 0),
  }
}

export const prefixOf = ({ path }: Pick<AnyBody, 'path'>, index: number): string => `${path}[${index}].`

/** Creates the frame of one item or iteration. `known`: the values that only its expressions see. */
export function frameIn(
  body: AnyBody,
  index: number,
  {
    state,
    row,
    known,
    settled,
  }: {
    state: GraphState
    row: ItemRow | undefined
    known: Pick<Context, 'item' | 'index' | 'loop'>
    settled(frame: Frame): void
  },
): Frame {
  const { live, frame, path, around, command } = body
  const { body: graph } = command.args
  const { input, vars, effectOf, seed, callbackUrl } = frame.context
  const prefix = prefixOf(body, index)
  const made: Frame = {
    prefix,
    context: {
      graph,
      input,
      execution: around.execution,
      vars,
      effectOf,
      seed: `${seed}:${prefix}`,
      ...known,
      outer: around.nodes,
      ...(callbackUrl && { callbackUrl, ...callbacksIn(graph, prefix, callbackUrl) }),
      otherGraphsSize: () => live.otherGraphsSize(made),
    },
    state,
    item: { index, path, settled },
    written: row !== undefined,
    ...(row?.usage && { usage: row.usage }),
  }
  return made
}

export const retryOnFault = <T>({ deps, live, frame, command }: AnyBody, work: () => Promise<T>): Promise<T> =>
  deps.platformRetry(live, { frame, node: command.node }, work)

/**
 * Starts or continues a body. Messages wait until a body that is continued has read its rows back. If they cannot be
 * read, for example because a blob is lost, the node fails: the execution would neither continue nor accept a
 * cancellation.
 */
export async function installBody(body: AnyBody, install: () => Promise<void>): Promise<void> {
  const { deps, live, frame, command } = body
  const { node, attempt } = command
  const isOver = (): boolean => live.frames.get(frame.prefix) !== frame
  try {
    await install()
  } catch (error) {
    // The execution goes back to the queue. Its messages are for frames that were not read back, so they stay unread.
    if (error instanceof NoLongerNeeded && !isOver()) throw error
    if (!isOver()) {
      const about = { err: error, execution_id: live.owned.executionId, node: frame.prefix + node }
      deps.log.error(about, 'the progress of a map or loop could not be read back')
      live.sendUnawaited(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable: false })
    }
  }
  if (command.again) live.restoring(-1)
}

/** Reports the result of the whole map or loop after its output is gathered, and calls `leave`. */
export async function reportOutput(body: AnyBody, gather: () => Promise<Json>, leave: () => void): Promise<void> {
  const { deps, live, frame, command } = body
  const { node, attempt } = command
  live.busy(1)
  try {
    const { value, text } = checkedText(await gather())
    const blob = isLarge(text) ? await retryOnFault(body, () => offload(deps.ports.blobs, live.owned, text)) : undefined
    live.sendUnawaited(frame, { kind: 'done', node, attempt, output: value, ...(blob && { blob }) })
  } catch (error) {
    // The parts are in their rows. The worker that continues the execution gathers them again.
    if (error instanceof NoLongerNeeded) return
    const retryable = !(error instanceof NodeFailure) || error.retryable
    live.sendUnawaited(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable })
  } finally {
    live.busy(-1)
    leave()
  }
}
