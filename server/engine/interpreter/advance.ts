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

// The interpreter: pure, synchronous, no clock, no I/O. What happened outside goes in with the time at which it did; the
// facts to journal and the commands to carry out once they are durable come out.

/**
 * What came of a pass. `unfinished`: its allowance was used up; `goOn` gives what else comes of it, and the commands come with
 * the last of that. `large`: nodes whose output is to be kept in the blob store.
 */
export type Step = { state: GraphState; facts: Fact[]; commands: Command[]; large: string[]; unfinished?: Pass }

/** False where the allowance is used up and something is left to look at. */
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

/** What becomes of the node on top of the list. */
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

/** Goes on with a pass whose allowance was used up. */
export const goOn = (pass: Pass, allowance: Allowance): Step => {
  pass.allowance = allowance
  return closePass(pass)
}

/** Begins a graph; `seed` holds results kept from the execution that is being retried. */
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
 * What an execution read back from the journal was doing: everything that ran is to be run again, and what may have been left
 * open is closed. One at a time, so that others can have their turn in between.
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
    // Each became ready in a pass of its own.
    pass.steps = MAX_PASS_STEPS
    const again = commandAgain(pass, id, node)
    if (again) yield again
  }
}
