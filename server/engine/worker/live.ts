import { type Held, measureAll, NOTHING_HELD } from '../interpreter/held.ts'
import { emptyState } from '../interpreter/state.ts'
import { openFrame, stepFrame } from './absorb.ts'
import type { Frame } from './frame.ts'
import { finishCancel, lookAtInbox, readInbox } from './inbox.ts'
import type { Leaving, Live, LiveDeps, Self } from './live-types.ts'
import { endPauses, inform, pause, post } from './mailbox.ts'
import { wasNotBegun } from './not-begun.ts'
import type { Owned } from './owned.ts'
import { beginLive, pump, resumeFrame } from './pump.ts'

// One execution in memory. Everything that happens to it goes through its mailbox. `pump` takes the content of the
// mailbox, lets the interpreter advance, and writes all results to the journal as one append. Only one append is in
// progress at a time.

const makeSelf = (deps: LiveDeps, owned: Owned): Self => {
  const context = { ...owned.context, elsewhere: () => heldBeside(self, top) }
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
    notBegun: false,
    releasing: false,
    pauses: new Set(),
    now: () => {
      lastAt = Math.max(lastAt, deps.clock())
      return lastAt
    },
    schedule: () => {
      if (scheduled || self.committing || self.gone) return
      scheduled = true
      queueMicrotask(look)
    },
    leave: (how) => leave(self, how),
    live: undefined as unknown as Live,
  }
  self.live = liveOf(self)
  return self
}

function* framesBeside({ frames }: Self, frame: Frame): Generator<Frame> {
  for (const other of frames.values()) if (other !== frame) yield other
}

const heldBeside = (self: Self, frame: Frame): Held =>
  self.frames.size === 1 ? NOTHING_HELD : measureAll(framesBeside(self, frame))

const leave = (self: Self, how: Leaving): void => {
  if (self.gone) return
  self.gone = true
  clearTimeout(self.timer)
  clearTimeout(self.cancel?.timer)
  for (const controller of self.effects.values()) controller.abort()
  self.effects.clear()
  endPauses(self)
  for (const wake of self.waiters.splice(0)) wake(false)
  self.deps.left(self.live, how)
}

const liveOf = (self: Self): Live => ({
  owned: self.owned,
  top: self.top,
  frames: self.frames,
  maps: self.maps,
  effects: self.effects,
  post: (thunk) => post(self, thunk),
  tell: (frame, happening) => post(self, (work) => stepFrame(self, work, frame, [happening])),
  inform: (frame, happening) => inform(self, (work) => stepFrame(self, work, frame, [happening])),
  step: (work, frame, happenings) => stepFrame(self, work, frame, happenings),
  open: (work, frame) => openFrame(self, work, frame),
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
  lookAtInbox: () => lookAtInbox(self),
  readInbox: () => readInbox(self),
  restoring: (delta) => {
    self.restoring += delta
    if (self.restoring === 0) lookAtInbox(self)
  },
  pause: (ms, evenWhenStopped) => pause(self, ms, evenWhenStopped),
  isReleasing: () => self.releasing && !self.gone,
  isGone: () => self.gone,
  heldBeside: (frame) => heldBeside(self, frame),
  wasNotBegun: (node) => wasNotBegun(self.owned, node),
  abandon: () => self.leave('abandoned'),
  release: () => {
    self.releasing = true
    endPauses(self)
    self.schedule()
  },
})

export const makeLive = (deps: LiveDeps, owned: Owned): Live => makeSelf(deps, owned).live
