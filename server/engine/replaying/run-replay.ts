import { advance, continuePass, type Step, startGraph } from '../interpreter/advance.ts'
import type { Context } from '../interpreter/context.ts'
import { emptyState, type GraphState, hasEnded, nextDue } from '../interpreter/state.ts'
import {
  type Answer,
  answerOf,
  type End,
  type Frame,
  MAX_MS,
  type ReplayRun,
  type ReplayRunDeps,
  Unreplayable,
} from './answers.ts'
import type { PastRun } from './record.ts'
import { type ExecutionTrace, pathOf } from './trace.ts'

// Runs a definition in memory against the record of a past execution. Nothing is sent: a call without a recorded
// answer is mocked and reported, and a question that was not asked in the past stays open. The clock is that of the
// past execution.

const MAX_COMMANDS = 20_000

export async function runReplay(deps: ReplayRunDeps, context: Context, past: PastRun): Promise<ExecutionTrace> {
  const replay: ReplayRun = {
    deps,
    report: { sent: [], asked: [], unanswered: [], mocked: [], usage: {} },
    until: deps.now() + MAX_MS,
    commands: 0,
    run: (frame, startAt) => run(replay, frame, startAt),
  }
  const { state, at } = await replay.run({ context, prefix: '', past }, past.startedAt)
  return {
    status: hasEnded(state) ? state.status : 'waiting',
    results: state.results ?? null,
    error: state.error ?? null,
    path: pathOf(state),
    ...replay.report,
    durationMs: at - past.startedAt,
  }
}

function checkTime({ deps, until }: ReplayRun): void {
  if (deps.now() > until) throw new Unreplayable('took_too_long', 'it needs more than 10 s of computing time')
}

async function complete(replay: ReplayRun, first: Step): Promise<Step> {
  const { workspaceId, turns } = replay.deps
  let step = first
  while (step.unfinished) {
    checkTime(replay)
    await turns.next(workspaceId)
    const more = continuePass(step.unfinished, turns.now(workspaceId))
    step = { ...more, events: [...step.events, ...more.events] }
  }
  return step
}

async function run(replay: ReplayRun, frame: Frame, startAt: number): Promise<End> {
  const { workspaceId, turns } = replay.deps
  const answers: (Answer & { order: number })[] = []
  let clock = startAt
  let order = 0
  const take = async (first: Step): Promise<GraphState> => {
    const step = await complete(replay, first)
    for (const command of step.commands) {
      replay.commands += 1
      if (replay.commands > MAX_COMMANDS)
        throw new Unreplayable('too_many_nodes', `it runs more than ${MAX_COMMANDS} nodes`)
      const answer = await answerOf(replay, frame, step.state, command, clock)
      if (answer) answers.push({ ...answer, order: order++ })
    }
    return step.state
  }
  let state = await take(startGraph(frame.context, clock, emptyState(), turns.now(workspaceId)))
  while (!hasEnded(state)) {
    checkTime(replay)
    answers.sort((a, b) => a.at - b.at || a.order - b.order)
    const [next] = answers
    const due = nextDue(state)
    if (next && (due === null || next.at <= due)) {
      answers.shift()
      clock = Math.max(clock, next.at)
      for (const message of next.messages)
        state = await take(advance(frame.context, state, [message], clock, turns.now(workspaceId)))
    } else if (due !== null) {
      clock = Math.max(clock, due)
      state = await take(advance(frame.context, state, [{ kind: 'time' }], clock, turns.now(workspaceId)))
    } else break
  }
  return { state, at: clock }
}
