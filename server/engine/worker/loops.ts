import type { Json, JsonObject } from '#model/definition'
import { jsonSize } from '#model/size'
import { SECOND } from '#platform/clock'
import { errorOf } from '../interpreter/errors.ts'
import type { Failure } from '../interpreter/graph-message.ts'
import { decideTurn } from '../interpreter/loop.ts'
import { MAX_INLINE_SIZE } from '../interpreter/output-size.ts'
import type { ResumedCommand } from '../interpreter/resume-command.ts'
import { emptyState, type GraphState } from '../interpreter/state.ts'
import type { ItemRow } from '../journal/batch.ts'
import { hydrate } from '../outputs.ts'
import { installBody, reportOutput, retryOnFault } from './body.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live, Work } from './live-types.ts'
import {
  delayS,
  frameOf,
  isConditionTrue,
  type Loop,
  type LoopCommand,
  makeLoop,
  restoreIteration,
  storeIteration,
  type TurnOutput,
} from './loop-state.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { resumeItem } from './resume-item.ts'

// A loop runs its body iteration by iteration, each in its own frame whose end is a row. Only the current iteration
// and the state at its start are in memory. Collected values are read from the rows at the end, unless they are
// small.

/**
 * The maximum number of iterations started in one append: bodies that need no worker settle at once, and an append
 * must stay small.
 */
const BURST = 200
const PAGE = 5_000
/** The progress of a loop is journalled after this number of iterations, and whenever an iteration is delayed. */
const TOLD_EVERY = 100

export async function runLoop(deps: EffectDeps, live: Live, frame: Frame, command: LoopCommand): Promise<undefined> {
  const loop = makeLoop(deps, live, frame, command)
  loop.launch = (work) => launch(loop, work)
  await installBody(loop, async () => {
    const { turn, failed } = command.again ? await restore(loop) : {}
    const resumed = turn ? await live.resume(turn) : []
    await live.post((work) => install(loop, work, turn, resumed, failed))
  })
  return undefined
}

/** Restores the loop after a crash or a wait: the last ended iteration, and the one that was running. */
async function restore(loop: Loop): Promise<{ turn?: Frame; failed?: ItemRow }> {
  const { deps, frame, command } = loop
  const found: { turn?: Frame; failed?: ItemRow } = {}
  const told = frame.state.nodes[command.node]?.loop?.turns ?? 0
  for (let after = Math.max(-1, told - 2); ; ) {
    const rows = await readPage(loop, after)
    for (const row of rows) {
      after = row.index
      if (row.status === 'succeeded') restoreIteration(loop, row)
      else if (row.status === 'failed') found.failed = row
      else if (row.state) {
        const { state } = row
        const hydrated = await retryOnFault(loop, () => hydrate(deps.ports.blobs, state))
        found.turn = frameOf(loop, row.index, hydrated, row)
      }
    }
    if (rows.length < PAGE) return found
  }
}

const readPage = (loop: Loop, after: number): Promise<ItemRow[]> =>
  retryOnFault(loop, () => loop.deps.readItems(loop.live, loop.path, after))

function install(
  loop: Loop,
  work: Work,
  turn: Frame | undefined,
  resumed: ResumedCommand[],
  failed: ItemRow | undefined,
) {
  // Not earlier: `launch` would start the iteration again that is read back but not begun here yet.
  loop.live.maps.add(loop.launch)
  if (failed) return failTurn(loop, work, failed.index, failed.error)
  if (turn) {
    loop.current = turn
    loop.live.frames.set(turn.prefix, turn)
    resumeItem(loop.live, work, turn, resumed)
  }
  launch(loop, work)
}

/** Returns true if an iteration had settled, so that the surrounding map or loop must be checked again. */
function launch(loop: Loop, work: Work): boolean {
  const { live, frame, command } = loop
  const self = frame.state.nodes[command.node]
  if (live.frames.get(frame.prefix) !== frame || self?.status !== 'running' || self.attempt !== command.attempt) {
    stop(loop)
    return false
  }
  loop.now = work.at
  let hasSettled = false
  while (!loop.over && !frame.unfinished) {
    const turn = loop.ended
    if (turn) {
      loop.ended = undefined
      hasSettled = true
      attemptTo(loop, work, () => settle(loop, work, turn))
    } else if (loop.current || frame.state.nodes[command.node]?.wait) break
    else if (work.begun >= BURST) {
      void live.post(() => undefined)
      break
    } else attemptTo(loop, work, () => decide(loop, work))
  }
  return hasSettled
}

/** Fails the loop if an expression of the loop itself fails or its value is too large. */
function attemptTo(loop: Loop, work: Work, step: () => void): void {
  try {
    step()
  } catch (error) {
    fail(loop, work, errorOf(error), false)
  }
}

function settle(loop: Loop, work: Work, turn: Frame) {
  loop.current = undefined
  const { status, results, error } = turn.state
  if (status !== 'succeeded') return failTurn(loop, work, loop.turns, error, turn.state.permanent)
  loop.turns += 1
  if (loop.command.args.body.output !== undefined) loop.state = results ?? null
  storeIteration(loop, work, turn.prefix)
}

function decide(loop: Loop, work: Work) {
  const { live, frame, command, turns, state } = loop
  const { node, attempt, args } = command
  // The iteration count is already journalled: the next iteration was decided, and the delay is over.
  if (turns > 0 && frame.state.nodes[node]?.loop?.turns === turns) return begin(loop, work)
  const next = decideTurn(args, turns, (cel) => isConditionTrue(loop, cel))
  if (next === 'end') return finish(loop, work)
  if (next === 'limit') {
    const message = `the loop was to continue after ${turns} turns, but max_iterations is ${args.maxIterations}`
    return fail(loop, work, { code: 'loop_limit', message, details: { turns, state } }, false)
  }
  const delay = turns > 0 ? delayS(loop) : 0
  const until = delay > 0 ? { until: work.at + delay * SECOND } : {}
  if (delay > 0 || (turns > 0 && turns % TOLD_EVERY === 0))
    live.step(work, frame, [{ kind: 'turns', node, attempt, turns, ...until }])
  else begin(loop, work)
}

function begin(loop: Loop, work: Work): void {
  const turn = frameOf(loop, loop.turns, emptyState())
  loop.current = turn
  loop.live.frames.set(turn.prefix, turn)
  work.begun += 1
  loop.live.open(work, turn)
}

function finish(loop: Loop, work: Work): void {
  const { live, frame, command, turns, state } = loop
  const { node, attempt, args } = command
  const list = args.collect === undefined ? undefined : loop.collected
  const output: JsonObject = { turns, state, ...(list && { collected: list }) }
  if ((args.collect !== undefined && !list) || jsonSize(output, MAX_INLINE_SIZE) > MAX_INLINE_SIZE) {
    loop.over = true
    void gather(loop)
    return
  }
  live.step(work, frame, [{ kind: 'done', node, attempt, output }])
  leave(loop)
}

async function gather(loop: Loop): Promise<void> {
  const { command, turns, state } = loop
  const whole = async (): Promise<Json> => {
    const list = command.args.collect === undefined ? undefined : (loop.collected ?? (await readCollected(loop)))
    return { turns, state, ...(list && { collected: list }) }
  }
  await reportOutput(loop, whole, () => leave(loop))
}

/** Reads the collected values after the row of the last iteration is written. */
async function readCollected(loop: Loop): Promise<Json[]> {
  if (!(await loop.live.post(() => undefined))) throw new NoLongerNeeded('the execution is no longer on this worker')
  const list: Json[] = []
  for (let after = -1; ; ) {
    const rows = await readPage(loop, after)
    for (const { output } of rows) list.push((output as TurnOutput | undefined)?.collected ?? null)
    if (rows.length < PAGE) return list
    after = rows.at(-1)?.index ?? after
  }
}

function leave(loop: Loop): void {
  loop.over = true
  loop.live.maps.delete(loop.launch)
}

function stop(loop: Loop): void {
  const { live, current } = loop
  leave(loop)
  if (!current) return
  live.frames.delete(current.prefix)
  for (const [at, controller] of live.effects) if (at.startsWith(current.prefix)) controller.abort()
  loop.current = undefined
}

function fail(loop: Loop, work: Work, error: Failure, retryable: boolean, isPermanent = false): void {
  const { node, attempt } = loop.command
  loop.live.step(work, loop.frame, [{ kind: 'error', node, attempt, error, retryable, isPermanent }])
  stop(loop)
}

function failTurn(loop: Loop, work: Work, turn: number, error: GraphState['error'], isPermanent?: boolean): void {
  const { code, message } = error ?? { code: 'failed', message: 'a turn failed' }
  fail(loop, work, { code, message, details: { turn, error: (error ?? null) as Json } }, true, isPermanent)
}
