import { resume } from '../interpreter/advance.ts'
import type { ResumedCommand } from '../interpreter/resume-command.ts'
import { emptyState, hasActive, hasEnded } from '../interpreter/state.ts'
import type { StartRow } from '../journal/batch.ts'
import { continueFrames, journalEvent, startFrame, stepFrame } from './advance-frame.ts'
import { commit, executeCommands } from './commit.ts'
import type { Frame } from './frame.ts'
import { deliver, deliverHeld } from './inbox.ts'
import type { Mail, Self, Work } from './live-types.ts'
import { postUnawaited, setTimer } from './mailbox.ts'
import { isBodyAgain } from './resume-item.ts'
import { rowUpdateAfter } from './row-update.ts'
import { advanceAhead } from './run-ahead.ts'
import { keptEvent, outcomeUnknown } from './signals.ts'
import { wasNotStarted } from './unstarted-effects.ts'
import { newWork } from './work.ts'

/** A failed item can end an item of the surrounding map, so this takes one round per level. */
const advanceMaps = ({ maps }: Self, work: Work): void => {
  for (let again = maps.size > 0; again; ) {
    again = false
    for (const look of [...maps]) again = look(work) || again
  }
}

const decideRowUpdate = (self: Self, work: Work, seenBefore: number): void => {
  const rowUpdate = rowUpdateAfter(self, work, seenBefore)
  if (rowUpdate) work.rowUpdate = rowUpdate
}

/**
 * An execution that progresses after a takeover is not what killed its workers. Without this, executions that were
 * running while processes were killed twice in a row were resumed one at a time: 5.3 s instead of 3.4 s.
 */
const clearOfSuspicion = (self: Self, work: Work): void => {
  if (self.owned.crashes === 0 || (work.events.length === 0 && work.items.size === 0)) return
  work.rowUpdate ??= { status: 'running', seen: self.seen }
  self.deps.onProgress(self.live)
}

/** Lets other work run first. Returns false if the execution is no longer on this worker in the meantime. */
const yieldToOthers = async (self: Self): Promise<boolean> => {
  await self.deps.turns.next(self.owned.workspaceId)
  return !self.gone
}

/**
 * Continues passes that have used up their allowance, slice by slice, and then the rest of the mailbox. Nothing is
 * journalled before all of it is done, so the slices are not visible. Returns false if the execution has left this
 * worker.
 */
const runInSlices = async (self: Self, work: Work, mail: Mail[]): Promise<boolean> => {
  self.committing = true
  for (let at = 0; work.unfinished.size > 0 || at < mail.length; ) {
    if (!(await yieldToOthers(self))) {
      for (const done of work.done) done(false)
      return false
    }
    continueFrames(self, work)
    while (work.unfinished.size === 0 && at < mail.length && hasTurn(self)) {
      mail[at]?.apply(work)
      at += 1
    }
    if (work.unfinished.size === 0 && at === mail.length) deliverHeld(self, work)
    if (!self.cancel) advanceMaps(self, work)
  }
  self.committing = false
  return true
}

const hasTurn = ({ deps, owned }: Self): boolean => deps.turns.now(owned.workspaceId).left > 0

/** Takes the content of the mailbox, lets the interpreter advance, and writes the results to the journal. */
export const pump = (self: Self): void => {
  if (self.gone) return
  if (self.committing) {
    advanceAhead(self)
    return
  }
  const work = self.ahead ?? newWork(self)
  self.ahead = undefined
  work.at = self.now()
  const mail = self.mailbox
  self.mailbox = []
  work.done = self.waiters
  self.waiters = []
  const seenBefore = self.seen
  if (mail.length > 0 && self.top.state.parked)
    journalEvent(self, work, { type: 'execution.resumed', at: work.at, data: {} })
  let taken = 0
  while (taken < mail.length && (taken === 0 || hasTurn(self)) && work.unfinished.size === 0) {
    mail[taken]?.apply(work)
    taken += 1
  }
  if (work.unfinished.size === 0 && taken === mail.length) deliverHeld(self, work)
  if (!self.cancel) advanceMaps(self, work)
  if (work.unfinished.size === 0 && taken === mail.length) conclude(self, work, seenBefore)
  else void runInSlices(self, work, mail.slice(taken)).then((isHere) => isHere && conclude(self, work, seenBefore))
}

const conclude = (self: Self, work: Work, seenBefore: number): void => {
  decideRowUpdate(self, work, seenBefore)
  clearOfSuspicion(self, work)
  if (work.events.length > 0 || work.items.size > 0 || work.rowUpdate) void commit(self, work)
  else {
    for (const done of work.done) done(true)
    executeCommands(self, work.commands)
    setTimer(self)
    // Processes what arrived in the mailbox while slices were computed. An execution that was released in the meantime
    // did not execute its commands, so it can leave now.
    if (self.mailbox.length > 0 || (self.releasing && work.commands.length > 0)) self.schedule()
  }
}

/** Records the first events of a journal: the start, and the results kept from the retried execution. */
const openJournal = (self: Self, work: Work): void => {
  const { top, owned } = self
  top.state = emptyState()
  const { vars } = owned.context
  const data = { trigger: { kind: owned.trigger.kind, id: owned.trigger.id }, ...(vars && { vars }) }
  journalEvent(self, work, { type: 'execution.started', at: work.at, data })
  for (const [id, node] of Object.entries(owned.state?.nodes ?? {}))
    journalEvent(self, work, keptEvent(id, node, work.at))
}

/**
 * Checks whether a user or a rule of the workflow cancelled the execution before it started. Then no node runs, not
 * even a `finally` node.
 */
const wasCancelledBefore = (self: Self): boolean => {
  self.cancelledBeforeStart = self.owned.inbox.some(({ payload }) => payload.type === 'cancel')
  return self.cancelledBeforeStart
}

/**
 * Starts an execution. The caller does not wait for long computations or large writes: in that case, the journal
 * starts with the start event alone, and all nodes follow.
 */
const openExecution = (self: Self): Work => {
  const { top } = self
  const work = newWork(self)
  openJournal(self, work)
  if (wasCancelledBefore(self)) return work
  startFrame(self, work, top)
  if (work.unfinished.size === 0 && work.large.length === 0) return work
  delete top.unfinished
  const alone = newWork(self)
  openJournal(self, alone)
  postUnawaited(self, (later) => startFrame(self, later, top))
  return alone
}

/** Returns the commands of a frame that was read back from the journal, computed in slices. */
export const resumeFrame = async (self: Self, { context, state }: Frame): Promise<ResumedCommand[]> => {
  const found: ResumedCommand[] = []
  const charged = { left: 0 }
  for (const resumed of resume(context, state, charged)) {
    found.push(resumed)
    const allowance = self.deps.turns.now(self.owned.workspaceId)
    allowance.left += charged.left
    charged.left = 0
    if (allowance.left <= 0 && !(await yieldToOthers(self))) return []
  }
  return found
}

/** Continues from a journal: running nodes are run again, except `at_most_once` nodes. */
const resumeExecution = async (self: Self, work: Work): Promise<void> => {
  const { top } = self
  if (top.state.parked) journalEvent(self, work, { type: 'execution.resumed', at: work.at, data: {} })
  const resumed = await resumeFrame(self, top)
  const mayNotBeRepeated = (command: ResumedCommand): boolean =>
    command.do === 'run' &&
    top.context.effectOf(command.type, command.args) === 'at_most_once' &&
    !wasNotStarted(self.owned, { nodePath: command.node, attempt: command.attempt })
  for (const one of resumed)
    if (one.do !== 'tell' && !mayNotBeRepeated(one)) work.commands.push({ frame: top, command: one })
  for (const one of resumed) {
    if (one.do === 'tell') stepFrame(self, work, top, [one.message])
    else if (mayNotBeRepeated(one)) stepFrame(self, work, top, [outcomeUnknown(one)])
  }
  // The execution was started and did nothing else: a graph that has not ended always has an active node.
  if (!hasEnded(top.state) && !hasActive(top.state)) {
    const hasRun = top.state.ending !== undefined || Object.keys(top.state.nodes).length > 0
    if (hasRun || !wasCancelledBefore(self)) startFrame(self, work, top)
  } else stepFrame(self, work, top, [])
}

export const beginLive = async (self: Self, start?: StartRow): Promise<{ started: boolean }> => {
  const { owned, top } = self
  // Nothing else is processed before this is journalled.
  self.committing = true
  const work = owned.hasStarted ? newWork(self) : openExecution(self)
  if (owned.hasStarted) await resumeExecution(self, work)
  self.restoring = work.commands.filter(({ command }) => isBodyAgain(command)).length
  if (self.restoring === 0) {
    self.read = owned.inbox.at(-1)?.n ?? self.seen
    for (const message of owned.inbox) deliver(self, work, message)
    // After the messages: an answer that was accepted is not lost because this worker came after the timeout.
    if (owned.hasStarted) stepFrame(self, work, top, [{ kind: 'time' }])
  }
  if (owned.deadline !== null && owned.deadline <= work.at) stepFrame(self, work, top, [{ kind: 'timeout' }])
  if (self.gone || (work.unfinished.size > 0 && !(await runInSlices(self, work, [])))) return { started: false }
  self.committing = false
  decideRowUpdate(self, work, owned.seen)
  return { started: await commit(self, work, start) }
}
