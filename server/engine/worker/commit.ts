import type { ExecutionStatus } from '#model/definition'
import { clearMeasured } from '../interpreter/output-size.ts'
import type { Append, StartRow } from '../journal/batch.ts'
import type { Accepted } from '../journal/deliver.ts'
import { Fenced, Refused, Unknown } from '../journal/failures.ts'
import type { BlobRef } from '../ports.ts'
import { checkInbox } from './inbox.ts'
import type { LeaveReason, Self, Work } from './live-types.ts'
import { setTimer } from './mailbox.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { letsContinue, runAhead } from './run-ahead.ts'
import { reportNotStarted } from './unstarted-effects.ts'

// Writes the results of the mailbox to the journal as one append. The commands of the interpreter are executed after
// that append is durable, except those that have no effect (run-ahead.ts).

export const executeCommands = (self: Self, commands: Work['commands']): void => {
  for (const { frame, command } of commands) {
    if (self.gone || self.cancel) return
    // While the execution is being released, only announced effects of `at_most_once` nodes still run.
    const announced = command.do === 'run' && self.top.context.effectOf(command.type, command.args) === 'at_most_once'
    if (!self.releasing || announced) self.deps.executeCommand(self.live, frame, command)
  }
}

/**
 * Stores a large value. If the blob store fails, it is retried until it succeeds, except for a start, whose caller
 * receives the error. An execution that is released in the meantime keeps the value in its journal.
 */
const offloaded = async (
  self: Self,
  value: unknown,
  { node, isStart, always }: { node: string; isStart: boolean; always: boolean },
): Promise<BlobRef | undefined> => {
  try {
    return await self.deps.offload(self.live, value, isStart ? undefined : node, always)
  } catch (error) {
    if (error instanceof NoLongerNeeded) return undefined
    throw error
  }
}

/** Stores results that are too large for the row in the blob store first. The journal names them. */
const offloadResults = async (self: Self, work: Work, isStart: boolean): Promise<void> => {
  if (work.rowUpdate?.results === undefined) return
  const blob = await offloaded(self, work.rowUpdate.results, { node: '', isStart, always: false })
  const last = work.events.findLast((event) => event.type === 'execution.succeeded')
  if (!blob || !last) return
  work.rowUpdate.resultsBlob = blob
  last.data = { ...last.data, blob }
}

/**
 * Stores outputs that are too large for an event in the blob store first, one after the other, so that at most one of
 * them is in memory as text.
 */
const offloadOutputs = async (self: Self, work: Work, isStart: boolean): Promise<void> => {
  for (const { frame, node } of work.large) {
    const state = frame.state.nodes[node]
    if (state?.output === undefined || state.blob) continue
    const blob = await offloaded(self, state.output, { node: frame.prefix + node, isStart, always: true })
    if (!blob) continue
    frame.state.nodes[node] = { ...state, blob }
    clearMeasured(frame.state)
    if (frame.item) continue
    const event = work.events.findLast(({ type, data }) => type === 'node.succeeded' && data.node_id === node)
    if (event) event.data = { ...event.data, blob }
  }
}

const LEAVE_REASONS: Partial<Record<ExecutionStatus, LeaveReason>> = { waiting: 'parked', queued: 'released' }
const leaveReasonOf = (status: ExecutionStatus): LeaveReason | undefined =>
  status === 'running' ? undefined : (LEAVE_REASONS[status] ?? 'ended')

const accept = (self: Self, work: Work, accepted: Accepted, isStart: boolean): boolean => {
  if (work.rowUpdate?.snapshot) self.snapshotSeq = self.top.state.seq
  if (isStart && !accepted.started) {
    self.leave('abandoned')
    return false
  }
  for (const done of work.done) done(true)
  const leaving = (isStart || accepted.moved) && work.rowUpdate ? leaveReasonOf(work.rowUpdate.status) : undefined
  if (work.events.length > 0)
    self.deps.onAppended(self.owned.executionId, leaving === 'ended' ? work.rowUpdate!.status : undefined)
  if (work.rowUpdate && work.rowUpdate.status !== 'running') {
    if (leaving) self.leave(leaving)
    // A message arrived first, so the execution does not park.
    else if (work.rowUpdate.parking) checkInbox(self)
    else self.leave('abandoned')
    return true
  }
  executeCommands(self, work.commands)
  setTimer(self)
  self.schedule()
  return true
}

export const commit = async (self: Self, work: Work, start?: StartRow): Promise<boolean> => {
  const { owned, top, deps } = self
  self.committing = true
  const seq = top.state.seq - work.events.length + 1
  const append: Append = {
    workspaceId: owned.workspaceId,
    executionId: owned.executionId,
    epoch: owned.epoch,
    seq,
    events: work.events,
    ...(work.items.size > 0 && { items: [...work.items.values()] }),
    ...(work.rowUpdate && { rowUpdate: work.rowUpdate }),
    ...(start && { start }),
  }
  try {
    if (work.large.length > 0) await offloadOutputs(self, work, start !== undefined)
    if (work.rowUpdate?.results !== undefined) await offloadResults(self, work, start !== undefined)
    if (self.gone) {
      notDurable(work)
      return false
    }
    const writing = deps.journal.append(append)
    if (!start && letsContinue(work)) {
      self.appending = true
      runAhead(self, work)
    }
    const accepted = await writing
    self.appending = false
    self.committing = false
    if (!self.gone) return accept(self, work, accepted, start !== undefined)
    reportNotStarted(self, work)
    notDurable(work)
    return false
  } catch (error) {
    self.appending = false
    notDurable(work)
    if (error instanceof Fenced || error instanceof Unknown) {
      self.committing = false
      if (error instanceof Unknown) reportNotStarted(self, work)
      deps.onJournalLost(error)
      // The other executions of the old identity may have left before this one was started under it.
      self.leave('abandoned')
      if (start) throw error
      return false
    }
    if (start && !(error instanceof Refused)) {
      self.leave('abandoned')
      throw error
    }
    return failUnstorable(self, append, error as Error)
  }
}

/** Tells callers that wait for their results that this worker does not write them. */
const notDurable = ({ done }: Work): void => {
  for (const tell of done) tell(false)
}

/**
 * The database refuses the append, so the execution fails with this error instead of never ending. An execution whose
 * first steps are refused is started with this end. `committing` stays set, because results that arrive in the meantime
 * would be written after the refused events. Returns whether the execution was started.
 */
const failUnstorable = async (self: Self, refused: Append, cause: Error): Promise<boolean> => {
  const { top, deps } = self
  const { workspaceId, executionId, epoch, seq, start } = refused
  deps.log.error({ err: cause, execution_id: executionId }, 'an execution fails because its journal cannot be written')
  const error = { code: 'not_storable', message: 'the journal of the execution could not be stored' }
  const at = self.now()
  const events = refused.events.slice(0, 1).filter(({ type }) => type === 'execution.started')
  events.push({ type: 'execution.failed', at, data: { error } })
  try {
    const { started } = await deps.journal.append({
      ...{ workspaceId, executionId, epoch, seq, events },
      rowUpdate: { status: 'failed', seen: self.seen, error, finishedAt: at, tellEnd: true },
      ...(start && { start }),
    })
    if (start && !started) {
      self.leave('abandoned')
      return false
    }
    top.state = { ...top.state, seq: seq + events.length - 1, status: 'failed', error }
    deps.onAppended(executionId, 'failed')
    self.leave('ended')
    return true
  } catch (again) {
    if (again instanceof Fenced || again instanceof Unknown) deps.onJournalLost(again)
    self.leave('abandoned')
    if (start) throw again
    return false
  }
}
