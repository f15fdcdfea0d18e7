import { type Budget, CONDITION_STEPS, momentOf, VALUES_STEPS } from '#model/cel-runtime'
import type { Json, JsonObject } from '#model/definition'
import { evaluateCondition, resolveValue, type Scope } from '#model/expressions'
import { isObject } from '#model/json'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import { SECOND } from '#platform/clock'
import type { Failure, Resumed } from '../interpreter/advance.ts'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import { MAX_INLINE_SIZE } from '../interpreter/held.ts'
import { decideTurn } from '../interpreter/loop.ts'
import { scopeAt } from '../interpreter/scope.ts'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { NodeFailure } from '../node.ts'
import { checkedText, hydrate, isLarge, offload } from '../outputs.ts'
import { callbacksIn } from './callbacks.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import { GivenUp } from './patience.ts'
import { resumeItem } from './resume-item.ts'

// A loop executes its body turn by turn, each in a frame of its own whose end is a row. In memory are the present turn and the
// state that it began with; what was collected is read from the rows at the end, unless it is small.

/** Turns begun in one append: bodies that need no worker settle at once, and an append must stay small. */
const BURST = 200
const PAGE = 5_000
/** The journal says how far a loop has come after a number of turns, and whenever a turn is delayed. */
const TOLD_EVERY = 100
/** Characters of the state that one turn gives the next. */
const MAX_STATE = 256 * 1024
/** Characters of states that the rows of one loop keep. Then only the last row keeps its state. */
const MAX_STATES = MAX_VALUE_SIZE
/** Characters of collected values that stay in memory. */
const MAX_COLLECTED_HERE = 256 * 1024
const MAX_DELAY_S = 31_536_000
/** What a turn costs beside its expressions, in steps. */
const BASE_STEPS = 100

const permanent = (code: string, message: string): NodeFailure => new NodeFailure(code, message, { retryable: false })

/** What the row of a turn that is over keeps as its output. `size` and `states` count those of all turns so far. */
export type TurnOutput = { state?: Json; collected?: Json; size: number; states: number }

type LoopCommand = Command & { do: 'loop' }

export const runLoop = async (deps: EffectDeps, live: Live, frame: Frame, command: LoopCommand): Promise<undefined> => {
  const { node, attempt, args } = command
  const path = frame.prefix + node + (attempt > 1 ? `#${attempt}` : '')
  const around = scopeAt(frame.context, frame.state, frame.state.nodes[node]?.ready ?? 0)
  /** Turns that are over, what the last one gave, and its row. */
  let turns = 0
  let state = args.state
  let last: ItemRow | undefined
  let size = 0
  let states = 0
  let collected: Json[] | undefined = []
  let current: Frame | undefined
  let ended: Frame | undefined
  let over = false
  /** What `now()` gives in the expressions of the loop itself. */
  let now = 0

  const settled = (turn: Frame): void => {
    ended = turn
  }

  const prefixOf = (turn: number): string => `${path}[${turn}].`

  const frameOf = (turn: number, graphState: GraphState, row?: ItemRow): Frame => {
    const { input, vars, effectOf, seed, callbackUrl, item, index } = frame.context
    const prefix = prefixOf(turn)
    const made: Frame = {
      prefix,
      context: {
        graph: args.body,
        input,
        execution: around.execution,
        vars,
        effectOf,
        seed: `${seed}:${prefix}`,
        ...(index !== undefined && { item: item ?? null, index }),
        loop: { state, turn },
        outer: around.nodes,
        ...(callbackUrl && { callbackUrl, ...callbacksIn(args.body, prefix, callbackUrl) }),
        elsewhere: () => live.heldBeside(made),
      },
      state: graphState,
      item: { index: turn, path, settled },
      written: row !== undefined,
      ...(row?.usage && { usage: row.usage }),
    }
    return made
  }

  const leave = (): void => {
    over = true
    live.maps.delete(launch)
  }

  const stop = (): void => {
    leave()
    if (!current) return
    live.frames.delete(current.prefix)
    for (const [at, controller] of live.effects) if (at.startsWith(current.prefix)) controller.abort()
    current = undefined
  }

  const fail = (work: Work, error: Failure, retryable: boolean): void => {
    live.step(work, frame, [{ kind: 'error', node, attempt, error, retryable }])
    stop()
  }

  const failTurn = (work: Work, turn: number, error: GraphState['error']): void => {
    const { code, message } = error ?? { code: 'failed', message: 'a turn failed' }
    fail(work, { code, message, details: { turn, error: (error ?? null) as Json } }, true)
  }

  const evaluate = <T>(steps: number, work: (scope: Scope, budget: Budget) => T): T => {
    const budget: Budget = { steps, size: MAX_VALUE_SIZE }
    try {
      const moment = momentOf(now, `${frame.context.seed}:${path}:${turns}`)
      return work({ ...around, moment, state, turn: turns }, budget)
    } finally {
      live.charge(BASE_STEPS + steps - Math.max(0, budget.steps))
    }
  }

  const holds = (cel: string): boolean =>
    evaluate(CONDITION_STEPS, (scope, budget) => evaluateCondition(cel, scope, budget))
  const resolved = (value: Json): Json => evaluate(VALUES_STEPS, (scope, budget) => resolveValue(value, scope, budget))

  const delayS = (): number => {
    const value = args.delayS === undefined ? null : resolved(args.delayS)
    if (value === null) return 0
    if (typeof value === 'number' && value >= 0 && value <= MAX_DELAY_S) return value
    throw permanent('args_invalid', `delay_s of a loop must be a number from 0 to ${MAX_DELAY_S}`)
  }

  const collect = (): Json | undefined => {
    if (args.collect === undefined) return undefined
    const { value, text } = checkedText(resolved(args.collect))
    size += text.length
    if (size > MAX_VALUE_SIZE)
      throw permanent('result_too_large', 'what the loop collects is larger than 8 MiB; write it to a dataset')
    collected?.push(value)
    if (size > MAX_COLLECTED_HERE) collected = undefined
    return value
  }

  /** What is kept of a turn that is over. */
  const keep = (work: Work, prefix: string): void => {
    const written = jsonSize(state, MAX_STATE)
    if (written > MAX_STATE)
      throw permanent(
        'result_too_large',
        'the state of a loop is larger than 256 KiB; collect results, or write them to a dataset',
      )
    const value = collect()
    states += written
    const before = last
    const output: JsonObject = { state, size, states, ...(value !== undefined && { collected: value }) }
    const row = work.items.get(prefix)
    if (row) last = Object.assign(row, { output })
    if (states <= MAX_STATES || !before || !isObject(before.output ?? null)) return
    const { state: _state, ...rest } = before.output as JsonObject
    work.items.set(prefixOf(before.index), { ...before, output: rest })
  }

  const settle = (work: Work, turn: Frame) => {
    current = undefined
    const { status, results, error } = turn.state
    if (status !== 'succeeded') return failTurn(work, turns, error)
    turns += 1
    if (args.body.output !== undefined) state = results ?? null
    keep(work, turn.prefix)
  }

  const begin = (work: Work): void => {
    const turn = frameOf(turns, emptyState())
    current = turn
    live.frames.set(turn.prefix, turn)
    work.begun += 1
    live.open(work, turn)
  }

  const decide = (work: Work) => {
    // Told already: it was decided, and the delay is over.
    if (turns > 0 && frame.state.nodes[node]?.loop?.turns === turns) return begin(work)
    const next = decideTurn(args, turns, holds)
    if (next === 'end') return finish(work)
    if (next === 'limit') {
      const message = `the loop was to go on after ${turns} turns, and max_iterations is ${args.maxIterations}`
      return fail(work, { code: 'loop_limit', message, details: { turns, state } }, false)
    }
    const delay = turns > 0 ? delayS() : 0
    const until = delay > 0 ? { until: work.at + delay * SECOND } : {}
    if (delay > 0 || (turns > 0 && turns % TOLD_EVERY === 0))
      live.step(work, frame, [{ kind: 'turns', node, attempt, turns, ...until }])
    else begin(work)
  }

  const finish = (work: Work): void => {
    const list = args.collect === undefined ? undefined : collected
    const output: JsonObject = { turns, state, ...(list && { collected: list }) }
    if ((args.collect !== undefined && !list) || jsonSize(output, MAX_INLINE_SIZE) > MAX_INLINE_SIZE) {
      over = true
      void gather()
      return
    }
    live.step(work, frame, [{ kind: 'done', node, attempt, output }])
    leave()
  }

  const gather = async (): Promise<void> => {
    live.busy(1)
    try {
      const list = args.collect === undefined ? undefined : (collected ?? (await readCollected()))
      const { value, text } = checkedText({ turns, state, ...(list && { collected: list }) })
      const blob = isLarge(text)
        ? await deps.patience(live, { frame, node }, () => offload(deps.ports.blobs, live.owned, text))
        : undefined
      live.inform(frame, { kind: 'done', node, attempt, output: value, ...(blob && { blob }) })
    } catch (error) {
      // Its turns are in their rows: the worker that goes on with it gathers them again.
      if (error instanceof GivenUp) return
      const retryable = !(error instanceof NodeFailure) || error.retryable
      live.inform(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable })
    } finally {
      live.busy(-1)
      leave()
    }
  }

  /** Once the row of the last turn is there. */
  const readCollected = async (): Promise<Json[]> => {
    if (!(await live.post(() => undefined))) throw new GivenUp('the execution has left this worker')
    const list: Json[] = []
    for (let after = -1; ; ) {
      const rows = await deps.patience(live, { frame, node }, () => deps.readItems(live, path, after))
      for (const { output } of rows) list.push((output as TurnOutput | undefined)?.collected ?? null)
      if (rows.length < PAGE) return list
      after = rows.at(-1)?.index ?? after
    }
  }

  /** An expression of the loop itself may fail, or give too much. */
  const attemptTo = (work: Work, step: () => void): void => {
    try {
      step()
    } catch (error) {
      fail(work, errorOf(error), false)
    }
  }

  /** True when a turn had settled, so that something may follow for what is around this loop. */
  const launch = (work: Work): boolean => {
    const self = frame.state.nodes[node]
    if (live.frames.get(frame.prefix) !== frame || self?.status !== 'running' || self.attempt !== attempt) {
      stop()
      return false
    }
    now = work.at
    let hasSettled = false
    while (!over && !frame.unfinished) {
      const turn = ended
      if (turn) {
        ended = undefined
        hasSettled = true
        attemptTo(work, () => settle(work, turn))
      } else if (current || frame.state.nodes[node]?.wait) break
      else if (work.begun >= BURST) {
        void live.post(() => undefined)
        break
      } else attemptTo(work, () => decide(work))
    }
    return hasSettled
  }

  const take = (row: ItemRow): void => {
    const output = row.output as TurnOutput
    last = row
    turns = row.index + 1
    state = output.state ?? null
    size = output.size
    states = output.states
    collected = undefined
  }

  /** After a crash or a wait: the last turn that is over, and the one that is under way. */
  const restore = async (): Promise<{ turn?: Frame; failed?: ItemRow }> => {
    const found: { turn?: Frame; failed?: ItemRow } = {}
    const told = frame.state.nodes[node]?.loop?.turns ?? 0
    for (let after = Math.max(-1, told - 2); ; ) {
      const rows = await deps.patience(live, { frame, node }, () => deps.readItems(live, path, after))
      for (const row of rows) {
        after = row.index
        if (row.status === 'succeeded') take(row)
        else if (row.status === 'failed') found.failed = row
        else if (row.state) {
          const { state: rowState } = row
          const hydrated = await deps.patience(live, { frame, node }, () => hydrate(deps.ports.blobs, rowState))
          found.turn = frameOf(row.index, hydrated, row)
        }
      }
      if (rows.length < PAGE) return found
    }
  }

  const install = (work: Work, turn: Frame | undefined, resumed: Resumed[], failed: ItemRow | undefined) => {
    if (failed) return failTurn(work, failed.index, failed.error)
    if (turn) {
      current = turn
      live.frames.set(turn.prefix, turn)
      resumeItem(live, work, turn, resumed)
    }
    launch(work)
  }

  const { turn, failed } = command.again ? await restore() : {}
  const resumed = turn ? await live.resume(turn) : []
  live.maps.add(launch)
  await live.post((work) => install(work, turn, resumed, failed))
  if (command.again) live.restoring(-1)
  return undefined
}
