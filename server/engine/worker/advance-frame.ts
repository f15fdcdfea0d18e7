import type { ExecutionError, Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Effect } from '#model/node'
import { jsonSize } from '#model/size'
import { advance, continuePass, type Step, startGraph } from '../interpreter/advance.ts'
import { apply } from '../interpreter/apply.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import type { Allowance } from '../interpreter/pass.ts'
import { type GraphState, hasEnded, type JournalEvent, nextDue } from '../interpreter/state.ts'
import { waitingFor } from '../interpreter/waiting.ts'
import type { ItemRow } from '../journal/batch.ts'
import { withoutBlobs } from '../journal/encode.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Self, Work } from './live-types.ts'

// Lets the interpreter advance a frame, and applies the results.

export const journalEvent = (self: Self, work: Work, event: JournalEvent): void => {
  apply(self.top.state, event)
  work.events.push(event)
}

const effectIn = ({ context }: Frame, event: JournalEvent): Effect => {
  const node = context.graph.nodes.find(({ id }) => id === event.data.node_id)
  return context.effectOf(node?.type ?? '', node?.args)
}

const usageIn = ({ type, data }: JournalEvent): Json | undefined => {
  if (type === 'node.succeeded') return data.usage
  if (type !== 'node.failed' && type !== 'node.retrying') return undefined
  const { details } = data.error as unknown as ExecutionError
  return isObject(details) ? details.usage : undefined
}

/** Adds the usage of models to the row of the item, because the events of an item are not journalled. */
const addUsage = (frame: Frame, events: JournalEvent[]): void => {
  for (const event of events) {
    const more = usageIn(event)
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
const writeOuterRows = (self: Self, work: Work, { path }: NonNullable<Frame['item']>): void => {
  const around = self.frames.get(splitPath(path).prefix)
  if (!around?.item || around.written) return
  around.written = true
  work.items.set(around.prefix, rowOf(around, around.item))
  writeOuterRows(self, work, around.item)
}

/** Records the progress of an item of a map: its row, and in the journal only requests to people. */
const applyItemStep = (
  self: Self,
  work: Work,
  frame: Frame,
  item: NonNullable<Frame['item']>,
  events: JournalEvent[],
): void => {
  for (const event of events) {
    if (!/^(approval|clarification|event)\./.test(event.type)) continue
    const node_id = frame.prefix + String(event.data.node_id)
    journalEvent(self, work, { ...event, data: { ...event.data, node_id, in_map: true } })
  }
  addUsage(frame, events)
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
    writeOuterRows(self, work, item)
    item.settled(frame)
    if (!ok) work.commands.push({ frame, command: { do: 'close', node: '' } })
    return
  }
  // The first attempt of a repeatable node needs no row: without a row, the item starts again. A waiting item needs a
  // row, because the execution may park, and a timer that restarts with every resumption would never end.
  const repeatable = (event: JournalEvent): boolean =>
    event.type === 'node.started' && effectIn(frame, event) !== 'at_most_once'
  const row = rowOf(frame, item)
  if (!frame.written && row.status !== 'waiting' && events.every(repeatable)) return
  frame.written = true
  work.items.set(frame.prefix, row)
  writeOuterRows(self, work, item)
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

/** Applies the result of an advance: events and commands for the execution, or the row of an item. */
const applyStep = (self: Self, work: Work, frame: Frame, step: Step): void => {
  const isAnnounced = !frame.state.ending && step.state.ending && !hasEnded(step.state)
  frame.state = step.state
  if (isAnnounced) beginEnding(self)
  for (const command of step.commands) work.commands.push({ frame, command })
  for (const node of step.large) work.large.push({ frame, node })
  if (frame.item) applyItemStep(self, work, frame, frame.item, step.events)
  else work.events.push(...step.events)
  if (step.unfinished) {
    frame.unfinished = { pass: step.unfinished, meanwhile: frame.unfinished?.meanwhile ?? [] }
    work.unfinished.add(frame)
  }
}

const allowance = ({ deps, owned }: Self): Allowance => deps.turns.now(owned.workspaceId)

/** Starts the graph of a frame. */
export const startFrame = (self: Self, work: Work, frame: Frame): void =>
  applyStep(self, work, frame, startGraph(frame.context, work.at, frame.state, allowance(self)))

export const stepFrame = (self: Self, work: Work, frame: Frame, messages: GraphMessage[]): void => {
  if (self.frames.get(frame.prefix) !== frame) return
  // A node that was told to stop receives nothing more: an effect that fails because it was stopped is not a failure.
  if (self.cancel && messages.some(({ kind }) => kind !== 'cancel')) return
  // Keeps the order in which messages would be recorded without slices.
  if (frame.unfinished) frame.unfinished.meanwhile.push(messages)
  else applyStep(self, work, frame, advance(frame.context, frame.state, messages, work.at, allowance(self)))
}

/** Continues an unfinished pass, and then applies what happened in the meantime. */
const continueFrame = (self: Self, work: Work, frame: Frame): void => {
  const { unfinished } = frame
  if (!unfinished) return
  const step = continuePass(unfinished.pass, allowance(self))
  if (!step.unfinished) {
    delete frame.unfinished
    work.unfinished.delete(frame)
  }
  applyStep(self, work, frame, step)
  if (step.unfinished) return
  for (const messages of unfinished.meanwhile) stepFrame(self, work, frame, messages)
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
