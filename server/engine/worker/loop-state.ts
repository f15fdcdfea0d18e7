import { type Budget, CONDITION_STEPS, momentOf, VALUES_STEPS } from '#model/cel-runtime'
import type { Json, JsonObject } from '#model/definition'
import { evaluateCondition, resolveValue, type Scope } from '#model/expressions'
import { isObject } from '#model/json'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import type { Command } from '../interpreter/commands.ts'
import type { GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { NodeFailure } from '../node.ts'
import { checkedText } from '../outputs.ts'
import { type Body, frameIn, makeBody, prefixOf } from './body.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'

// The state of a running loop in memory: the current iteration, the state at its start, and the collected values
// while they are small.

/** The maximum number of characters of the state that one iteration passes to the next. */
const MAX_STATE = 256 * 1024
/** The maximum number of characters of states in the rows of one loop. Beyond it, only the last row keeps its state. */
const MAX_STATES = MAX_VALUE_SIZE
/** The maximum number of characters of collected values in memory. */
const MAX_COLLECTED_HERE = 256 * 1024
const MAX_DELAY_S = 31_536_000
/** The cost of an iteration in addition to its expressions, in steps. */
const BASE_STEPS = 100

/** The output in the row of an ended iteration. `size` and `states` are totals of all iterations so far. */
export type TurnOutput = { state?: Json; collected?: Json; size: number; states: number }

export type LoopCommand = Command & { do: 'loop' }

export type Loop = Body<'loop'> & {
  /** The number of ended iterations, the state after the last one, and its row. */
  turns: number
  state: Json
  last?: ItemRow | undefined
  size: number
  states: number
  collected: Json[] | undefined
  current?: Frame | undefined
  /** An iteration that has settled and is not processed yet. */
  ended?: Frame | undefined
  over: boolean
  /** The value of `now()` in the expressions of the loop itself. */
  now: number
  /** The execution calls this after every advance. */
  launch: (work: Work) => boolean
}

export function makeLoop(deps: EffectDeps, live: Live, frame: Frame, command: LoopCommand): Loop {
  return {
    ...makeBody(deps, live, frame, command),
    turns: 0,
    state: command.args.state,
    size: 0,
    states: 0,
    collected: [],
    over: false,
    now: 0,
    launch: () => false,
  }
}

const permanent = (code: string, message: string): NodeFailure => new NodeFailure(code, message, { retryable: false })

export function frameOf(loop: Loop, turn: number, graphState: GraphState, row?: ItemRow): Frame {
  const { item, index } = loop.frame.context
  return frameIn(loop, turn, {
    state: graphState,
    row,
    known: { ...(index !== undefined && { item: item ?? null, index }), loop: { state: loop.state, turn } },
    settled: (settled) => {
      loop.ended = settled
    },
  })
}

function evaluate<T>(loop: Loop, steps: number, work: (scope: Scope, budget: Budget) => T): T {
  const { frame, path, around, state, turns } = loop
  const budget: Budget = { steps, size: MAX_VALUE_SIZE }
  try {
    const moment = momentOf(loop.now, `${frame.context.seed}:${path}:${turns}`)
    return work({ ...around, moment, state, turn: turns }, budget)
  } finally {
    loop.live.charge(BASE_STEPS + steps - Math.max(0, budget.steps))
  }
}

export const isConditionTrue = (loop: Loop, cel: string): boolean =>
  evaluate(loop, CONDITION_STEPS, (scope, budget) => evaluateCondition(cel, scope, budget))

const resolved = (loop: Loop, value: Json): Json =>
  evaluate(loop, VALUES_STEPS, (scope, budget) => resolveValue(value, scope, budget))

export function delayS(loop: Loop): number {
  const { args } = loop.command
  const value = args.delayS === undefined ? null : resolved(loop, args.delayS)
  if (value === null) return 0
  if (typeof value === 'number' && value >= 0 && value <= MAX_DELAY_S) return value
  throw permanent('args_invalid', `delay_s of a loop must be a number from 0 to ${MAX_DELAY_S}`)
}

function collect(loop: Loop): Json | undefined {
  const { args } = loop.command
  if (args.collect === undefined) return undefined
  const { value, text } = checkedText(resolved(loop, args.collect))
  loop.size += text.length
  if (loop.size > MAX_VALUE_SIZE)
    throw permanent('result_too_large', 'what the loop collects is larger than 8 MiB; write it to a dataset')
  loop.collected?.push(value)
  if (loop.size > MAX_COLLECTED_HERE) loop.collected = undefined
  return value
}

/** Writes the output of an ended iteration to its row. */
export function storeIteration(loop: Loop, work: Work, prefix: string): void {
  const { state } = loop
  const written = jsonSize(state, MAX_STATE)
  if (written > MAX_STATE)
    throw permanent(
      'result_too_large',
      'the state of a loop is larger than 256 KiB; collect results, or write them to a dataset',
    )
  const value = collect(loop)
  loop.states += written
  const before = loop.last
  const { size, states } = loop
  const output: JsonObject = { state, size, states, ...(value !== undefined && { collected: value }) }
  const row = work.items.get(prefix)
  if (row) loop.last = Object.assign(row, { output })
  if (states <= MAX_STATES || !before || !isObject(before.output ?? null)) return
  const { state: _state, ...rest } = before.output as JsonObject
  work.items.set(prefixOf(loop, before.index), { ...before, output: rest })
}

/** Restores the loop from an iteration that had ended before this worker took over the execution. */
export function restoreIteration(loop: Loop, row: ItemRow): void {
  const output = row.output as TurnOutput
  loop.last = row
  loop.turns = row.index + 1
  loop.state = output.state ?? null
  loop.size = output.size
  loop.states = output.states
  loop.collected = undefined
}
