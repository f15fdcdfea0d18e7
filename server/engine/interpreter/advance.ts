import { activate } from './activate.ts'
import { commandAgain, type Resumed } from './again.ts'
import { type Command, closingOf } from './commands.ts'
import type { Context } from './context.ts'
import { finish } from './ending.ts'
import { failed } from './failing.ts'
import { compile } from './graph.ts'
import type { Happening } from './happening.ts'
import { type Allowance, isSpent, MAX_PASS_STEPS, openPass, type Pass, record, settle, UNLIMITED } from './pass.ts'
import { readiness } from './scope.ts'
import { activeNodes, emptyState, type Fact, type GraphState, hasActive, hasEnded } from './state.ts'
import { takeIn } from './take-in.ts'

// The interpreter is pure and synchronous, without a clock or I/O. Its input is what happened outside, with the time.
// Its output is the facts to journal, and the commands to execute after the facts are durable.

/**
 * The result of a pass. `unfinished`: the allowance was used up. `goOn` continues the pass, and the commands come
 * with its last step. `large`: nodes whose output must be stored in the blob store.
 */
export type Step = { state: GraphState; facts: Fact[]; commands: Command[]; large: string[]; unfinished?: Pass }

/** Returns false if the allowance is used up and nodes are left to examine. */
const lookAtAll = (pass: Pass): boolean => {
  while (!hasEnded(pass.state)) {
    const tried = pass.again.at(-1)
    const id = tried?.[0] ?? pass.look.at(-1)
    if (id === undefined) break
    if (!tried && pass.state.nodes[id]) {
      pass.look.pop()
      continue
    }
    if (isSpent(pass)) return false
    if (tried) {
      pass.again.pop()
      activate(pass, id, tried[1])
    } else if (!lookAt(pass, id)) return false
  }
  return true
}

const lookAround = (pass: Pass): boolean => {
  for (;;) {
    if (!lookAtAll(pass)) return false
    if (hasEnded(pass.state) || hasActive(pass.state)) return true
    if (isSpent(pass)) return false
    finish(pass)
  }
}

/** Decides the node on top of the list. */
const lookAt = (pass: Pass, id: string): boolean => {
  const ready = readiness(pass, id)
  if (ready === 'later') return false
  pass.look.pop()
  if (ready === 'skip') {
    record(pass, 'node.skipped', { node_id: id })
    settle(pass, id)
  } else if (ready === 'ready') {
    if (activate(pass, id)) return true
    pass.look.push(id)
    return false
  } else if (typeof ready === 'object') failed(pass, id, 1, ready.failed, false, { isFinal: true })
  return true
}

const closePass = (pass: Pass): Step => {
  const isFinished = lookAround(pass)
  const { state, facts } = pass
  const commands = isFinished && !hasEnded(state) ? pass.commands : []
  const large = pass.large.slice(pass.largeTold)
  if (isFinished) return { state, facts, commands, large }
  pass.facts = []
  pass.largeTold = pass.large.length
  return { state, facts, commands, large, unfinished: pass }
}

/** Continues a pass whose allowance was used up. */
export const goOn = (pass: Pass, allowance: Allowance): Step => {
  pass.allowance = allowance
  return closePass(pass)
}

/** Starts a graph. `seed` contains the results that are kept from the execution being retried. */
export const begin = (
  context: Context,
  at: number,
  seed: GraphState = emptyState(),
  allowance: Allowance = UNLIMITED,
): Step => {
  const pass = openPass(context, compile(context.graph), seed, { at, allowance })
  pass.look = [...(context.outer ? pass.compiled.graph.nodes.map(({ id }) => id).reverse() : pass.compiled.first)]
  return closePass(pass)
}

export const advance = (
  context: Context,
  state: GraphState,
  happenings: readonly Happening[],
  at: number,
  allowance: Allowance = UNLIMITED,
): Step => {
  if (hasEnded(state)) return { state, facts: [], commands: [], large: [] }
  const pass = openPass(context, compile(context.graph), state, { at, allowance })
  for (const happening of happenings) takeIn(pass, happening)
  return closePass(pass)
}

/**
 * Yields the work of an execution that was read back from the journal: every running node is run again, and
 * everything that may be open is closed. Yields one command at a time, so that other work can run between them.
 */
export function* resume(context: Context, state: GraphState, allowance: Allowance): Generator<Resumed> {
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
    const again = commandAgain(pass, id, node)
    if (again) yield again
  }
}
