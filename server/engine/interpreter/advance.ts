import { activate } from './activate.ts'
import { applyMessage } from './apply-message.ts'
import { type Command, closingOf } from './commands.ts'
import type { Context } from './context.ts'
import { finish } from './ending.ts'
import { failed } from './failing.ts'
import { compile } from './graph.ts'
import type { GraphMessage } from './graph-message.ts'
import { type Allowance, isUsedUp, MAX_PASS_STEPS, openPass, type Pass, record, settle, UNLIMITED } from './pass.ts'
import { type ResumedCommand, resumeCommand } from './resume-command.ts'
import { readiness } from './scope.ts'
import { activeNodes, emptyState, type GraphState, hasActive, hasEnded, type JournalEvent } from './state.ts'

// The interpreter is pure and synchronous, without a clock or I/O. Its input is what happened outside, with the time.
// Its output is the events to journal, and the commands to execute after the events are durable.

/**
 * The result of a pass. `unfinished`: the allowance was used up. `continuePass` continues the pass, and the commands come
 * with its last step. `large`: nodes whose output must be stored in the blob store.
 */
export type Step = {
  state: GraphState
  events: JournalEvent[]
  commands: Command[]
  large: string[]
  unfinished?: Pass
}

/** Returns false if the allowance is used up and nodes are left to examine. */
const examineNodes = (pass: Pass): boolean => {
  while (!hasEnded(pass.state)) {
    const tried = pass.toRetry.at(-1)
    const id = tried?.[0] ?? pass.toExamine.at(-1)
    if (id === undefined) break
    if (!tried && pass.state.nodes[id]) {
      pass.toExamine.pop()
      continue
    }
    if (isUsedUp(pass)) return false
    if (tried) {
      pass.toRetry.pop()
      activate(pass, id, tried[1])
    } else if (!examineNode(pass, id)) return false
  }
  return true
}

const examineUntilActive = (pass: Pass): boolean => {
  for (;;) {
    if (!examineNodes(pass)) return false
    if (hasEnded(pass.state) || hasActive(pass.state)) return true
    if (isUsedUp(pass)) return false
    finish(pass)
  }
}

/** Decides the node on top of the list. */
const examineNode = (pass: Pass, id: string): boolean => {
  const ready = readiness(pass, id)
  if (ready === 'later') return false
  pass.toExamine.pop()
  if (ready === 'skip') {
    record(pass, 'node.skipped', { node_id: id })
    settle(pass, id)
  } else if (ready === 'ready') {
    if (activate(pass, id)) return true
    pass.toExamine.push(id)
    return false
  } else if (typeof ready === 'object') failed(pass, id, 1, ready.failed, false, { isFinal: true })
  return true
}

const closePass = (pass: Pass): Step => {
  const isFinished = examineUntilActive(pass)
  const { state, events } = pass
  const commands = isFinished && !hasEnded(state) ? pass.commands : []
  const large = pass.large.slice(pass.largeReported)
  if (isFinished) return { state, events, commands, large }
  pass.events = []
  pass.largeReported = pass.large.length
  return { state, events, commands, large, unfinished: pass }
}

/** Continues a pass whose allowance was used up. */
export const continuePass = (pass: Pass, allowance: Allowance): Step => {
  pass.allowance = allowance
  return closePass(pass)
}

/** Starts a graph. `seed` contains the results that are kept from the execution being retried. */
export const startGraph = (
  context: Context,
  at: number,
  seed: GraphState = emptyState(),
  allowance: Allowance = UNLIMITED,
): Step => {
  const pass = openPass(context, compile(context.graph), seed, { at, allowance })
  pass.toExamine = [...(context.outer ? pass.compiled.graph.nodes.map(({ id }) => id).reverse() : pass.compiled.first)]
  return closePass(pass)
}

export const advance = (
  context: Context,
  state: GraphState,
  messages: readonly GraphMessage[],
  at: number,
  allowance: Allowance = UNLIMITED,
): Step => {
  if (hasEnded(state)) return { state, events: [], commands: [], large: [] }
  const pass = openPass(context, compile(context.graph), state, { at, allowance })
  for (const message of messages) applyMessage(pass, message)
  return closePass(pass)
}

/**
 * Yields the work of an execution that was read back from the journal: every running node is run again, and
 * everything that may be open is closed. Yields one command at a time, so that other work can run between them.
 */
export function* resume(context: Context, state: GraphState, allowance: Allowance): Generator<ResumedCommand> {
  if (hasEnded(state)) return
  const compiled = compile(context.graph)
  for (const [id, { status, wait, attempt }] of Object.entries(state.nodes)) {
    const node = status === 'failed' || wait?.kind === 'retry' ? compiled.nodes.get(id) : undefined
    if (node) yield* closingOf(node, attempt)
  }
  if (state.ending && state.ending.until === undefined) yield { do: 'grace', node: '' }
  const pass = openPass(context, compiled, state, { at: 0, allowance })
  for (const [id, node] of activeNodes(state)) {
    const isChild = node.wait?.kind === 'execution' && node.wait.child === undefined
    if (node.status !== 'running' && !isChild) continue
    // Each node became ready in its own pass, so each has the budget of a whole pass.
    pass.steps = MAX_PASS_STEPS
    const again = resumeCommand(pass, id, node)
    if (again) yield again
  }
}
