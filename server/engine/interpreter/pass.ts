import { type Budget, CONDITION_STEPS, VALUES_STEPS } from '#model/cel-runtime'
import type { Edge, JsonObject } from '#model/definition'
import { MAX_VALUE_SIZE } from '#model/size'
import { apply } from './apply.ts'
import type { Command } from './commands.ts'
import type { Context, EdgeState } from './context.ts'
import type { Compiled } from './graph.ts'
import type { OutputCount } from './output-size.ts'
import type { GraphState, JournalEvent } from './state.ts'

/**
 * The steps that a pass may still take before other work runs. A pass that has used them up stops between two
 * expressions and is continued later. Its records do not depend on where it stopped.
 */
export type Allowance = { left: number }
export const UNLIMITED: Allowance = { left: Number.POSITIVE_INFINITY }

/** The budget of all expressions of one pass together: 0.3 s. Each node also has its own budget. */
export const MAX_PASS_STEPS = 10_000_000

/** One pass over a graph: the state being built, the events to journal and the commands to execute. */
export type Pass = {
  context: Context
  compiled: Compiled
  state: GraphState
  at: number
  events: JournalEvent[]
  commands: Command[]
  /** Nodes to examine again because a node before them settled. */
  toExamine: string[]
  /** Nodes to retry. */
  toRetry: [id: string, attempt: number][]
  /** Edges whose conditions this pass has evaluated, and the case at which a branch continues. */
  edges: Map<Edge, EdgeState>
  cases: Map<string, number>
  /** Nodes whose output is too large for an event, and how many of them earlier steps have reported. */
  large: string[]
  largeReported: number
  /** The size of the graph, counted from the first output that is not tiny. */
  outputSize?: OutputCount
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
  events: [],
  commands: [],
  toExamine: [],
  toRetry: [],
  edges: new Map(),
  cases: new Map(),
  large: [],
  largeReported: 0,
  allowance,
  steps: MAX_PASS_STEPS,
})

export const isUsedUp = ({ allowance }: Pass): boolean => allowance.left <= 0

/**
 * The cost of a node in addition to its expressions, in steps. Building the scope costs one more step per node of the
 * graph.
 */
const BASE_STEPS = 100
/** The number of characters that are written in the time of one step. */
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

/** Evaluates a condition within its own budget and that of the pass. */
export const decide = <T>(pass: Pass, evaluate: (budget: Budget) => T): T =>
  spending(pass, { steps: Math.min(CONDITION_STEPS, pass.steps), size: MAX_VALUE_SIZE }, evaluate)

/** Computes the values of a node within their own budget and that of the pass. */
export const compute = <T>(pass: Pass, size: number, evaluate: (budget: Budget) => T): T =>
  spending(pass, { steps: Math.min(VALUES_STEPS, pass.steps), size }, evaluate)

export const record = (pass: Pass, type: JournalEvent['type'], data: JsonObject): void => {
  const event = { type, at: pass.at, data }
  apply(pass.state, event)
  pass.events.push(event)
}

export const settle = (pass: Pass, id: string): void => {
  for (const edge of pass.compiled.outgoing.get(id) ?? []) pass.toExamine.push(edge.to)
}
