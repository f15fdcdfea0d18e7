import { type Budget, CONDITION_STEPS, VALUES_STEPS } from '#model/cel-runtime'
import type { Edge, JsonObject } from '#model/definition'
import { MAX_VALUE_SIZE } from '#model/size'
import { apply } from './apply.ts'
import type { Command } from './commands.ts'
import type { Context, EdgeState } from './context.ts'
import type { Compiled } from './graph.ts'
import type { Counting } from './held.ts'
import type { Fact, GraphState } from './state.ts'

/**
 * Steps that may still be taken before others have their turn. A pass that has used them up stops between two expressions
 * and is continued later; what it records does not depend on where it stopped.
 */
export type Allowance = { left: number }
export const UNLIMITED: Allowance = { left: Number.POSITIVE_INFINITY }

/** All expressions of one pass together: 0.3 s. Each node has its own budget as well. */
export const MAX_PASS_STEPS = 10_000_000

/** One pass over a graph: the state being built, what is to be journalled, what is to be done. */
export type Pass = {
  context: Context
  compiled: Compiled
  state: GraphState
  at: number
  facts: Fact[]
  commands: Command[]
  /** Nodes to look at again because something before them settled. */
  look: string[]
  /** Nodes to try again. */
  again: [id: string, attempt: number][]
  /** Edges whose conditions this pass has looked at, and the case at which a branch goes on. */
  edges: Map<Edge, EdgeState>
  cases: Map<string, number>
  /** Nodes that settled with more than an event holds, and how many of them the steps so far have told. */
  large: string[]
  largeTold: number
  /** What the graph holds, counted from the first large output on. */
  held?: Counting
  allowance: Allowance
  /** Steps left for the whole pass. */
  steps: number
}

export const openPass = (
  context: Context,
  compiled: Compiled,
  state: GraphState,
  { at, allowance }: { at: number; allowance: Allowance },
): Pass => ({
  context,
  compiled,
  state: { ...state, nodes: { ...state.nodes } },
  at,
  facts: [],
  commands: [],
  look: [],
  again: [],
  edges: new Map(),
  cases: new Map(),
  large: [],
  largeTold: 0,
  allowance,
  steps: MAX_PASS_STEPS,
})

export const isSpent = ({ allowance }: Pass): boolean => allowance.left <= 0

/** What a node costs beside its expressions, in steps: the scope names every node that settled before it. */
const BASE_STEPS = 100
/** Characters that are written in the time of a step. */
const SIZE_PER_STEP = 16

const spending = <T>(pass: Pass, budget: Budget, evaluate: (budget: Budget) => T): T => {
  const { steps, size } = budget
  try {
    return evaluate(budget)
  } finally {
    const used = steps - Math.max(0, budget.steps)
    pass.steps -= used
    pass.allowance.left -=
      used + BASE_STEPS + pass.compiled.nodes.size + Math.max(0, size - budget.size) / SIZE_PER_STEP
  }
}

/** A condition within its own budget and that of the pass. */
export const decide = <T>(pass: Pass, evaluate: (budget: Budget) => T): T =>
  spending(pass, { steps: Math.min(CONDITION_STEPS, pass.steps), size: MAX_VALUE_SIZE }, evaluate)

/** The values of a node, likewise. */
export const compute = <T>(pass: Pass, size: number, evaluate: (budget: Budget) => T): T =>
  spending(pass, { steps: Math.min(VALUES_STEPS, pass.steps), size }, evaluate)

export const record = (pass: Pass, type: Fact['type'], data: JsonObject): void => {
  const fact = { type, at: pass.at, data }
  apply(pass.state, fact)
  pass.facts.push(fact)
}

export const settle = (pass: Pass, id: string): void => {
  for (const edge of pass.compiled.outgoing.get(id) ?? []) pass.look.push(edge.to)
}
