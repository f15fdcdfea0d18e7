import { hasEnded } from '../interpreter/state.ts'
import type { Self, Work } from './live-types.ts'
import { newWork } from './work.ts'

// While an append is being written, the execution continues in memory as far as nobody can notice: results of nodes are
// applied, and nodes without effects are run. The results are written with the next append. If this process dies before,
// the next owner computes them again from the journal. No node runs before its execution is durable, and a node with an
// effect runs only when everything before it is.

/** The maximum number of events that are computed while one append is being written. */
const MAX_EVENTS = 32

const isStopping = ({ gone, cancel, releasing, top }: Self): boolean =>
  gone || cancel !== undefined || releasing || hasEnded(top.state)

const hasNoEffect = ({ top }: Self, { frame, command }: Work['commands'][number]): boolean =>
  command.do === 'run' && frame === top && top.context.effectOf(command.type, command.args) === 'pure'

/** Runs the nodes without effects that this work has made ready. Its other commands wait until it is durable. */
export const runAhead = (self: Self, work: Work): void => {
  if (isStopping(self)) return
  const { commands } = work
  work.commands = []
  for (const one of commands) {
    if (hasNoEffect(self, one)) self.deps.executeCommand(self.live, one.frame, one.command)
    else work.commands.push(one)
  }
}

/** Checks whether an append changes nothing that the execution needs before it continues. */
export const letsContinue = (work: Work): boolean => work.rowUpdate === undefined && work.items.size === 0

const mayAdvance = (self: Self): boolean => {
  const { ahead, deps, owned } = self
  if (!self.appending || isStopping(self) || self.maps.size > 0 || self.restoring > 0) return false
  if (deps.turns.now(owned.workspaceId).left <= 0) return false
  return !ahead || (ahead.unfinished.size === 0 && ahead.large.length === 0 && ahead.events.length < MAX_EVENTS)
}

/** Applies the results that have arrived while an append is being written. */
export const advanceAhead = (self: Self): void => {
  let taken = 0
  while (self.mailbox[taken]?.isEarly && mayAdvance(self)) {
    self.ahead ??= newWork(self)
    self.ahead.at = self.now()
    self.mailbox[taken]?.apply(self.ahead)
    taken += 1
  }
  if (taken === 0 || !self.ahead) return
  self.mailbox = self.mailbox.slice(taken)
  if (self.ahead.unfinished.size === 0 && self.ahead.large.length === 0) runAhead(self, self.ahead)
}
