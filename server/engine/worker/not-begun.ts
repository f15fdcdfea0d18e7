import type { NodeAttempt, Self, Work } from './live-types.ts'
import type { Owned } from './owned.ts'

// The connection broke as the start of a node was recorded whose effect may happen at most once. The worker knows that it did
// not begin the effect, and nobody else can: it says so before it hands the execution over.

/** The nodes of this append whose effects are begun only when it is durable. */
export const announced = ({ commands }: Work): NodeAttempt[] =>
  commands.flatMap(({ frame, command }) =>
    command.do === 'run' && frame.context.effectOf(command.type, command.args) === 'at_most_once'
      ? [{ nodePath: frame.prefix + command.node, attempt: command.attempt }]
      : [],
  )

/**
 * Only the one who takes over right after that worker may believe it: each takeover raises the epoch by one, and with the next one
 * this worker may have begun the effect itself.
 */
export const wasNotBegun = ({ inbox, epoch }: Pick<Owned, 'inbox' | 'epoch'>, node: NodeAttempt): boolean =>
  inbox.some(
    ({ payload }) =>
      payload.type === 'not_begun' &&
      payload.epoch + 1 === epoch &&
      payload.nodePath === node.nodePath &&
      payload.attempt === node.attempt,
  )

export const tellNotBegun = (self: Self, work: Work): void => {
  const nodes = announced(work)
  if (nodes.length > 0) self.deps.notBegun(self.live, nodes)
}
