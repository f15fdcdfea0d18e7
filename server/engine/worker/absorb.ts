import type { ExecutionError, Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Effect } from '#model/node'
import { jsonSize } from '#model/size'
import { advance, begin, goOn, type Step } from '../interpreter/advance.ts'
import { apply } from '../interpreter/apply.ts'
import type { Happening } from '../interpreter/happening.ts'
import type { Allowance } from '../interpreter/pass.ts'
import { type Fact, type GraphState, hasEnded, nextDue } from '../interpreter/state.ts'
import { waitingFor } from '../interpreter/waiting.ts'
import type { ItemRow } from '../journal/batch.ts'
import { withoutBlobs } from '../journal/encode.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Self, Work } from './live-types.ts'

// Lets the interpreter advance a frame, and applies the results.

export const journalFact = (self: Self, work: Work, fact: Fact): void => {
  apply(self.top.state, fact)
  work.facts.push(fact)
}

const effectIn = ({ context }: Frame, fact: Fact): Effect => {
  const node = context.graph.nodes.find(({ id }) => id === fact.data.node_id)
  return context.effectOf(node?.type ?? '', node?.args)
}

const usageIn = ({ type, data }: Fact): Json | undefined => {
  if (type === 'node.succeeded') return data.usage
  if (type !== 'node.failed' && type !== 'node.retrying') return undefined
  const { details } = data.error as unknown as ExecutionError
  return isObject(details) ? details.usage : undefined
}

/** Adds the usage of models to the row of the item, because the events of an item are not journalled. */
const addUsage = (frame: Frame, facts: Fact[]): void => {
  for (const fact of facts) {
    const more = usageIn(fact)
    if (!isObject(more)) continue
    const sum: JsonObject = { ...frame.usage }
    for (const [name, count] of Object.entries(more))
      if (typeof count === 'number') sum[name] = Number(sum[name] ?? 0) + count
    frame.usage = sum
  }
}

const rowOf = (frame: Frame, { path, index }: NonNullable<Frame['item']>): ItemRow => ({
  path,
  index,
  status: waitingFor(frame.state).length > 0 ? 'waiting' : 'running',
  state: frame.state,
  dueAt: nextDue(frame.state),
  ...(frame.usage && { usage: frame.usage }),
})

/**
 * The number of items and iterations whose nodes can be viewed: the first ones of a map or loop. Failed ones can be
 * viewed at any index.
 */
const MAX_KEPT_ITEMS = 1_000
const MAX_KEPT_SIZE = 16 * 1024

/** Returns the state of the nodes of an ended item. It is only for viewing; no execution continues from it. */
const keptState = (state: GraphState, index: number): { state?: GraphState } => {
  if (state.status === 'succeeded' && index >= MAX_KEPT_ITEMS) return {}
  const { seq, status, nodes } = withoutBlobs(state)
  return jsonSize(nodes, MAX_KEPT_SIZE) <= MAX_KEPT_SIZE ? { state: { seq, status, nodes } } : {}
}

/**
 * Writes the rows of the surrounding items. A row is found only through these rows: an outer item that restarts would
 * restart the inner one as well.
 */
const writeAround = (self: Self, work: Work, { path }: NonNullable<Frame['item']>): void => {
  const around = self.frames.get(splitPath(path).prefix)
  if (!around?.item || around.written) return
  around.written = true
  work.items.set(around.prefix, rowOf(around, around.item))
  writeAround(self, work, around.item)
}

/** Records the progress of an item of a map: its row, and in the journal only requests to people. */
const absorbItem = (self: Self, work: Work, frame: Frame, item: NonNullable<Frame['item']>, facts: Fact[]): void => {
  for (const fact of facts) {
    if (!/^(approval|clarification|event)\./.test(fact.type)) continue
    const node_id = frame.prefix + String(fact.data.node_id)
    journalFact(self, work, { ...fact, data: { ...fact.data, node_id, in_map: true } })
  }
  addUsage(frame, facts)
  if (hasEnded(frame.state)) {
    self.frames.delete(frame.prefix)
    const { status, results, error } = frame.state
    const ok = status === 'succeeded'
    work.items.set(frame.prefix, {
      path: item.path,
      index: item.index,
      status: ok ? 'succeeded' : 'failed',
      output: ok ? (results ?? null) : null,
      ...(error && { error }),
      ...(frame.usage && { usage: frame.usage }),
      ...keptState(frame.state, item.index),
    })
    writeAround(self, work, item)
    item.settled(frame)
    if (!ok) work.commands.push({ frame, command: { do: 'close', node: '' } })
    return
  }
  // The first attempt of a repeatable node needs no row: without a row, the item starts again. A waiting item needs a
  // row, because the execution may park, and a timer that restarts with every resumption would never end.
  const repeatable = (fact: Fact): boolean => fact.type === 'node.started' && effectIn(frame, fact) !== 'at_most_once'
  const row = rowOf(frame, item)
  if (!frame.written && row.status !== 'waiting' && facts.every(repeatable)) return
  frame.written = true
  work.items.set(frame.prefix, row)
  writeAround(self, work, item)
}

/**
 * Handles the announced end of the execution: aborts running effects and accepts a cancellation. The `finally` nodes
 * follow.
 */
const beginEnding = (self: Self): void => {
  for (const controller of self.effects.values()) controller.abort()
  if (!self.cancel) return
  clearTimeout(self.cancel.timer)
  self.seen = self.cancel.n
  // Messages after the cancellation were not processed, and are read again.
  self.read = self.seen
  self.held = []
  self.cancel = undefined
}

/** Applies the result of an advance: facts and commands for the execution, or the row of an item. */
const absorb = (self: Self, work: Work, frame: Frame, step: Step): void => {
  const isAnnounced = !frame.state.ending && step.state.ending && !hasEnded(step.state)
  frame.state = step.state
  if (isAnnounced) beginEnding(self)
  for (const command of step.commands) work.commands.push({ frame, command })
  for (const node of step.large) work.large.push({ frame, node })
  if (frame.item) absorbItem(self, work, frame, frame.item, step.facts)
  else work.facts.push(...step.facts)
  if (step.unfinished) {
    frame.unfinished = { pass: step.unfinished, meanwhile: frame.unfinished?.meanwhile ?? [] }
    work.unfinished.add(frame)
  }
}

const allowance = ({ deps, owned }: Self): Allowance => deps.turns.now(owned.workspaceId)

/** Starts the graph of a frame. */
export const openFrame = (self: Self, work: Work, frame: Frame): void =>
  absorb(self, work, frame, begin(frame.context, work.at, frame.state, allowance(self)))

export const stepFrame = (self: Self, work: Work, frame: Frame, happenings: Happening[]): void => {
  if (self.frames.get(frame.prefix) !== frame) return
  // A node that was told to stop receives nothing more: an effect that fails because it was stopped is not a failure.
  if (self.cancel && happenings.some(({ kind }) => kind !== 'cancel')) return
  // Keeps the order in which happenings would be recorded without slices.
  if (frame.unfinished) frame.unfinished.meanwhile.push(happenings)
  else absorb(self, work, frame, advance(frame.context, frame.state, happenings, work.at, allowance(self)))
}

/** Continues an unfinished pass, and then applies what happened in the meantime. */
const continueFrame = (self: Self, work: Work, frame: Frame): void => {
  const { unfinished } = frame
  if (!unfinished) return
  const step = goOn(unfinished.pass, allowance(self))
  if (!step.unfinished) {
    delete frame.unfinished
    work.unfinished.delete(frame)
  }
  absorb(self, work, frame, step)
  if (step.unfinished) return
  for (const happenings of unfinished.meanwhile) stepFrame(self, work, frame, happenings)
}

/**
 * Runs one slice: continues unfinished frames until the workspace has used up its allowance in this turn of the event
 * loop.
 */
export const continueFrames = (self: Self, work: Work): void => {
  for (const frame of work.unfinished) {
    if (self.frames.get(frame.prefix) === frame) continueFrame(self, work, frame)
    else work.unfinished.delete(frame)
    if (allowance(self).left <= 0) return
  }
}
