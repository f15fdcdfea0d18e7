import { stepFrame } from './advance-frame.ts'
import type { Self, Work } from './live-types.ts'
import { deadlineOf, dueAt, nextDueIn } from './row-update.ts'

// Everything that happens to an execution goes through its mailbox, including the passing of time.

const MAX_TIMER = 2 ** 31 - 1

export const post = (self: Self, thunk: (work: Work) => void): Promise<boolean> => {
  if (self.gone) return Promise.resolve(false)
  self.mailbox.push({ apply: thunk, isEarly: false })
  self.schedule()
  return new Promise((resolve) => self.waiters.push(resolve))
}

/** As `post`, for a caller that does not need to know when the result is durable. */
export const postUnawaited = (self: Self, thunk: (work: Work) => void, isEarly = false): void => {
  if (self.gone) return
  self.mailbox.push({ apply: thunk, isEarly })
  self.schedule()
}

/**
 * Resolves after `ms` milliseconds, or earlier if the wait may no longer be needed. Returns whether it is still
 * needed.
 */
export const pause = (self: Self, ms: number, evenWhenStopped: boolean): Promise<boolean> =>
  new Promise((resolve) => {
    const isWanted = (): boolean => !self.gone && !self.releasing && (evenWhenStopped || !self.cancel)
    const end = (): void => {
      clearTimeout(timer)
      self.pauses.delete(end)
      resolve(isWanted())
    }
    const timer = setTimeout(end, isWanted() ? ms : 0)
    self.pauses.add(end)
  })

export const endPauses = (self: Self): void => {
  for (const end of [...self.pauses]) end()
}

/**
 * Checks whether messages may have arrived that are not delivered yet. No timeout of a node applies before them: the
 * sender of an answer was told that it was accepted. After they are delivered, the timer is set.
 */
const isCatchingUp = ({ restoring, reading }: Self): boolean => restoring > 0 || reading !== undefined

const timePasses =
  (self: Self) =>
  (work: Work): void => {
    const { deadline } = self.owned
    if (deadline !== null && deadline <= work.at && !self.top.state.ending) {
      stepFrame(self, work, self.top, [{ kind: 'timeout' }])
      return
    }
    if (isCatchingUp(self)) return
    for (const frame of [...self.frames.values()]) {
      const next = nextDueIn(self, frame)
      if (next !== null && next <= work.at) stepFrame(self, work, frame, [{ kind: 'time' }])
    }
  }

export const setTimer = (self: Self): void => {
  clearTimeout(self.timer)
  const due = isCatchingUp(self) ? deadlineOf(self) : dueAt(self)
  // While the execution is being cancelled, no time applies. The cancellation has a timer of its own.
  if (due === null || self.gone || self.cancel) return
  const wait = Math.min(MAX_TIMER, Math.max(1, due - self.deps.clock()))
  self.timer = setTimeout(() => postUnawaited(self, timePasses(self)), wait)
}
