import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import { mayBeSuspended } from '../interpreter/commands.ts'
import { compile } from '../interpreter/graph.ts'
import type { Signal } from '../ports.ts'
import { stepFrame } from './advance-frame.ts'
import { childId } from './child-id.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Self, Work } from './live-types.ts'
import { endPauses, post, postUnawaited } from './mailbox.ts'
import type { InboxMessage } from './owned.ts'
import { messageOf } from './signals.ts'

// Messages to an execution, in order. A cancellation stops running effects and ends the execution, at the latest
// after GRACE.

const GRACE = 10 * SECOND

export const finishCancel = (self: Self): void => {
  if (!self.cancel) return
  const { data } = self.cancel
  const { cancelledBeforeStart: notBegun } = self
  postUnawaited(self, (work) => stepFrame(self, work, self.top, [{ kind: 'cancel', data, notStarted: notBegun }]))
}

const beginCancel = (self: Self, n: number, data: JsonObject): void => {
  if (self.cancel) return
  self.cancel = { n, data, timer: setTimeout(() => finishCancel(self), GRACE) }
  for (const controller of self.effects.values()) controller.abort()
  endPauses(self)
  if (self.inFlight === 0) finishCancel(self)
}

const isSuspendable = ({ context }: Frame, id: string): boolean =>
  mayBeSuspended(compile(context.graph).nodes.get(id)?.type ?? '')

/**
 * Checks whether a message is for a node whose gate or question is still being opened. It is not known yet whether
 * the opening was committed, but a user has already voted or answered. The message counts as read only when the node
 * waits for it or has settled. A suspendable node may run for long after its gate, and other messages must not wait
 * for it, so a resolution is recorded in its state instead.
 */
const isTooEarly = ({ frames }: Self, { payload }: InboxMessage): boolean => {
  if (payload.type === 'cancel' || payload.type === 'child.ended' || payload.type === 'not_begun') return false
  const { prefix, node } = splitPath(payload.nodePath)
  const frame = frames.get(prefix)
  if (frame?.state.nodes[node]?.status !== 'running') return false
  return payload.type === 'node.failed' || !isSuspendable(frame, node)
}

const take = (self: Self, work: Work, { n, payload }: InboxMessage): void => {
  self.seen = n
  if (payload.type === 'cancel') return
  const { prefix, node } = splitPath(payload.nodePath)
  const frame = self.frames.get(prefix)
  if (!frame) return
  if (payload.type === 'child.ended' && isSuspendable(frame, node)) {
    stepFrame(self, work, frame, [{ kind: 'ended', node, execution: toWire('exe', payload.childId) }])
    return
  }
  const attempt = frame.state.nodes[node]?.attempt ?? 1
  // The message is from a child of an earlier attempt.
  if (payload.type === 'child.ended' && payload.childId !== childId(self.owned.executionId, frame, node, attempt))
    return
  const message = messageOf(payload, node, attempt)
  if (message) stepFrame(self, work, frame, [message])
}

/** Delivers held messages that are no longer too early. They stay in order, because `seen` is a single number. */
export const deliverHeld = (self: Self, work: Work): void => {
  while (self.held.length > 0 && !self.cancel && !isTooEarly(self, self.held[0] as InboxMessage))
    take(self, work, self.held.shift() as InboxMessage)
}

/** If a rule cancelled the execution, the data names the rule and the execution that replaces it. */
export const cancelData = ({ by, reason, rule }: Extract<Signal, { type: 'cancel' }>): JsonObject => ({
  by,
  ...(reason !== undefined && { reason }),
  ...(rule && {
    error: {
      code: rule.code,
      message: rule.message,
      ...(rule.other !== null && { details: { execution_id: toWire('exe', rule.other) } }),
    },
  }),
})

export const deliver = (self: Self, work: Work, message: InboxMessage): void => {
  const { n, payload } = message
  // A cancellation while the `finally` nodes run changes nothing, because the execution is already ending.
  if (payload.type === 'cancel' && !self.top.state.ending) {
    beginCancel(self, n, cancelData(payload))
    return
  }
  // After a cancellation no message is processed: `seen` in the journal ends with the cancellation.
  if (self.cancel) return
  self.held.push(message)
  deliverHeld(self, work)
}

const readOnce = async (self: Self): Promise<void> => {
  try {
    const messages = await self.deps.readInbox(self.live, self.read)
    self.reading = undefined
    self.read = messages.at(-1)?.n ?? self.read
    await post(self, (work) => {
      for (const message of messages) deliver(self, work, message)
    })
  } catch (error) {
    self.reading = undefined
    // The execution did not park while it was reading.
    self.schedule()
    self.deps.log.warn({ err: error, execution_id: self.owned.executionId }, 'the inbox could not be read')
    throw error
  }
}

export const checkInbox = (self: Self): void => {
  if (self.reading || self.restoring > 0 || self.gone) return
  self.reading = readOnce(self)
  // A failed read is repeated by the next tick.
  self.reading.catch(() => {})
}

/** When the promise resolves, every message sent before this call is delivered. */
export const readInbox = async (self: Self): Promise<void> => {
  // A read that is already running may have started before the message was stored.
  while (self.reading) await self.reading.catch(() => {})
  if (self.restoring > 0 || self.gone) return
  self.reading = readOnce(self)
  await self.reading
}
