import type { Context } from '../interpreter/context.ts'
import { measureGraphs, NO_OUTPUT, type OutputSize } from '../interpreter/output-size.ts'
import { emptyState } from '../interpreter/state.ts'
import { startFrame, stepFrame } from './advance-frame.ts'
import type { Frame } from './frame.ts'
import { checkInbox, finishCancel, readInbox } from './inbox.ts'
import type { LeaveReason, Live, LiveDeps, Self } from './live-types.ts'
import { endPauses, pause, post, postUnawaited } from './mailbox.ts'
import type { Owned } from './owned.ts'
import { beginLive, pump, resumeFrame } from './pump.ts'
import { wasNotStarted } from './unstarted-effects.ts'

// One execution in memory. Everything that happens to it goes through its mailbox. `pump` takes the content of the
// mailbox, lets the interpreter advance, and writes all results to the journal as one append. Only one append is in
// progress at a time; in the meantime the execution may run ahead (run-ahead.ts).

const makeSelf = (deps: LiveDeps, owned: Owned): Self => {
  const context: Context = { ...owned.context, otherGraphsSize: () => otherGraphsSize(self, top) }
  const top: Frame = { prefix: '', context, state: owned.state ?? emptyState(), written: true }
  let lastAt = 0
  let scheduled = false
  const look = (): void => {
    scheduled = false
    pump(self)
  }
  const self: Self = {
    deps,
    owned,
    top,
    frames: new Map([['', top]]),
    maps: new Set(),
    effects: new Map(),
    mailbox: [],
    waiters: [],
    committing: false,
    appending: false,
    ahead: undefined,
    gone: false,
    inFlight: 0,
    seen: owned.seen,
    read: owned.seen,
    reading: undefined,
    held: [],
    restoring: 0,
    snapshotSeq: owned.snapshotSeq,
    timer: undefined,
    cancel: undefined,
    cancelledBeforeStart: false,
    releasing: false,
    pauses: new Set(),
    now: () => {
      lastAt = Math.max(lastAt, deps.clock())
      return lastAt
    },
    schedule: () => {
      if (scheduled || (self.committing && !self.appending) || self.gone) return
      scheduled = true
      queueMicrotask(look)
    },
    leave: (how) => leave(self, how),
    live: undefined as unknown as Live,
  }
  self.live = liveOf(self)
  return self
}

function* otherFrames({ frames }: Self, frame: Frame): Generator<Frame> {
  for (const other of frames.values()) if (other !== frame) yield other
}

const otherGraphsSize = (self: Self, frame: Frame): OutputSize =>
  self.frames.size === 1 ? NO_OUTPUT : measureGraphs(otherFrames(self, frame))

const leave = (self: Self, how: LeaveReason): void => {
  if (self.gone) return
  self.gone = true
  clearTimeout(self.timer)
  clearTimeout(self.cancel?.timer)
  for (const controller of self.effects.values()) controller.abort()
  self.effects.clear()
  endPauses(self)
  for (const wake of self.waiters.splice(0)) wake(false)
  self.deps.onLeft(self.live, how)
}

const liveOf = (self: Self): Live => ({
  owned: self.owned,
  top: self.top,
  frames: self.frames,
  maps: self.maps,
  effects: self.effects,
  post: (thunk) => post(self, thunk),
  send: (frame, message) => post(self, (work) => stepFrame(self, work, frame, [message])),
  sendUnawaited: (frame, message) =>
    postUnawaited(
      self,
      (work) => stepFrame(self, work, frame, [message]),
      frame === self.top && message.kind === 'done',
    ),
  step: (work, frame, messages) => stepFrame(self, work, frame, messages),
  open: (work, frame) => startFrame(self, work, frame),
  resume: (frame) => resumeFrame(self, frame),
  charge: (steps) => {
    self.deps.turns.now(self.owned.workspaceId).left -= steps
  },
  busy: (delta, then) => {
    self.inFlight += delta
    then?.()
    if (self.inFlight > 0) return
    if (self.cancel) finishCancel(self)
    else self.schedule()
  },
  begin: (start) => beginLive(self, start),
  checkInbox: () => checkInbox(self),
  readInbox: () => readInbox(self),
  restoring: (delta) => {
    self.restoring += delta
    if (self.restoring === 0) checkInbox(self)
  },
  pause: (ms, evenWhenStopped) => pause(self, ms, evenWhenStopped),
  isReleasing: () => self.releasing && !self.gone,
  isGone: () => self.gone,
  otherGraphsSize: (frame) => otherGraphsSize(self, frame),
  wasNotStarted: (node) => wasNotStarted(self.owned, node),
  abandon: () => self.leave('abandoned'),
  release: () => {
    self.releasing = true
    endPauses(self)
    self.schedule()
  },
})

export const makeLive = (deps: LiveDeps, owned: Owned): Live => makeSelf(deps, owned).live
