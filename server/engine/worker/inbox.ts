import type { JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { stepFrame } from './absorb.ts'
import { childId } from './child-id.ts'
import { splitPath } from './frame.ts'
import type { InboxMessage, Self, Work } from './live-types.ts'
import { inform, post } from './mailbox.ts'
import { happeningOf } from './signals.ts'

// Messages to an execution, in their order. A cancel stops what is under way and ends it, at the latest after a grace.

const GRACE = 10 * SECOND

export const finishCancel = (self: Self): void => {
  if (!self.cancel) return
  const { data } = self.cancel
  inform(self, (work) => stepFrame(self, work, self.top, [{ kind: 'cancel', data }]))
}

const beginCancel = (self: Self, n: number, data: JsonObject): void => {
  if (self.cancel) return
  self.cancel = { n, data, timer: setTimeout(() => finishCancel(self), GRACE) }
  for (const controller of self.effects.values()) controller.abort()
  if (self.inFlight === 0) finishCancel(self)
}

export const deliver = (self: Self, work: Work, { n, payload }: InboxMessage): void => {
  if (payload.type === 'cancel') {
    beginCancel(self, n, { by: payload.by, ...(payload.reason !== undefined && { reason: payload.reason }) })
    return
  }
  // Once a cancel is under way nothing after it is taken in: the journal's `seen` ends with the cancel.
  if (self.cancel) return
  self.seen = n
  const { prefix, node } = splitPath(payload.nodePath)
  const frame = self.frames.get(prefix)
  if (!frame) return
  const attempt = frame.state.nodes[node]?.attempt ?? 1
  // Of an attempt that is over.
  if (payload.type === 'child.ended' && payload.childId !== childId(self.owned.executionId, frame, node, attempt))
    return
  const happening = happeningOf(payload, node, attempt)
  if (happening) stepFrame(self, work, frame, [happening])
}

export const lookAtInbox = (self: Self): void => {
  if (self.reading || self.restoring > 0 || self.gone) return
  self.reading = true
  self.deps
    .readInbox(self.live, self.read)
    .then((messages) => {
      self.reading = false
      self.read = messages.at(-1)?.n ?? self.read
      return post(self, (work) => {
        for (const message of messages) deliver(self, work, message)
      })
    })
    .catch((error: Error) => {
      self.reading = false
      self.deps.log.warn({ err: error, execution_id: self.owned.executionId }, 'the inbox could not be read')
    })
}
