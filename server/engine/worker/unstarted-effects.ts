import type { NodeAttempt, Self, Work } from './live-types.ts'
import type { Owned } from './owned.ts'

// The connection broke while the start of an `at_most_once` node was being recorded. Only this worker knows that it
// did not start the effect, so it reports this before it hands over the execution.

/** Returns the nodes of this append whose effects start only after the append is durable. */
export const announcedEffects = ({ commands }: Work): NodeAttempt[] =>
  commands.flatMap(({ frame, command }) =>
    command.do === 'run' && frame.context.effectOf(command.type, command.args) === 'at_most_once'
      ? [{ nodePath: frame.prefix + command.node, attempt: command.attempt }]
      : [],
  )

/**
 * Only the worker that takes over directly after the reporting one may accept the report: each takeover raises the
 * epoch by one, and a later owner cannot rule out that the effect was started in the meantime.
 */
export const wasNotStarted = ({ inbox, epoch }: Pick<Owned, 'inbox' | 'epoch'>, node: NodeAttempt): boolean =>
  inbox.some(
    ({ payload }) =>
      payload.type === 'not_begun' &&
      payload.epoch + 1 === epoch &&
      payload.nodePath === node.nodePath &&
      payload.attempt === node.attempt,
  )

export const reportNotStarted = (self: Self, work: Work): void => {
  const nodes = announcedEffects(work)
  if (nodes.length > 0) self.deps.reportNotStarted(self.live, nodes)
}
