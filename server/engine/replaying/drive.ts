import type { ExecutionError, Json, JsonObject, Node } from '#model/definition'
import { isActing } from '#model/touch'
import { argsOf } from '../interpreter/activate.ts'
import { advance, begin, goOn, type Step } from '../interpreter/advance.ts'
import { askingOf, type Command } from '../interpreter/commands.ts'
import type { Context } from '../interpreter/context.ts'
import { errorOf } from '../interpreter/errors.ts'
import { compile } from '../interpreter/graph.ts'
import type { Happening } from '../interpreter/happening.ts'
import { openPass, UNLIMITED } from '../interpreter/pass.ts'
import { emptyState, type GraphState, hasEnded, nextDue } from '../interpreter/state.ts'
import { type NodeCall, NodeFailure, type NodeKind } from '../node.ts'
import { plausibleOutput } from '../trying/plausible.ts'
import type { Turns } from '../worker/turns.ts'
import { answerHappening, endHappening } from './happenings.ts'
import { type Call, keyOf, type PastRun, settledBy } from './record.ts'

// Runs a definition in memory over what a past run recorded. Nothing is sent: what the record does not answer is mocked and
// reported, and a question that nobody was asked then stays open. Time is that of the past run.

/** A run that cannot be held against a candidate, and why. */
export class Unreplayable extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export type Made = { node_id: string; type: string; args: JsonObject }
export type Mocked = { node_id: string; type: string; reason: 'arguments_differ' | 'not_recorded' }
export type PathEntry = { node_id: string; status: string; port: string | null }

/** What a run did, or would do. */
export type Course = {
  status: string
  results: Json
  error: ExecutionError | null
  path: PathEntry[]
  /** Requests, messages and other effects, in the order in which they began. */
  sent: Made[]
  /** Gates, questions and waits for events that opened. */
  asked: Made[]
  /** Those of them that nobody answered then. */
  unanswered: string[]
  mocked: Mocked[]
  usage: JsonObject
  durationMs: number
}

export type DriveDeps = {
  workspaceId: string
  turns: Turns
  /** Kinds that only compute: they run for real where the record does not answer. */
  computing: ReadonlyMap<string, NodeKind>
  descriptorOf(type: string): NodeKind['descriptor'] | undefined
  /** Milliseconds of this machine, to stop a run that computes without end. */
  now(): number
}

const MAX_COMMANDS = 20_000
const MAX_ITEMS = 1_000
const MAX_MS = 10_000
const GRACE_MS = 60_000

type Task = { at: number; order: number; happenings: Happening[] }
type Frame = { context: Context; prefix: string; past: PastRun | undefined }
type End = { state: GraphState; at: number }

const addUsage = (sum: JsonObject, more: JsonObject | undefined): void => {
  for (const [name, count] of Object.entries(more ?? {}))
    if (typeof count === 'number') sum[name] = Number(sum[name] ?? 0) + count
}

export const pathOf = (state: GraphState): PathEntry[] =>
  Object.entries(state.nodes)
    .map(([node_id, { status, port }]) => ({ node_id, status, port: port ?? null }))
    .sort((a, b) => (a.node_id < b.node_id ? -1 : 1))

/** What the past run itself did, in the words of a candidate's. */
export const courseOf = (past: PastRun): Course => {
  const sent: Made[] = []
  const asked: Made[] = []
  const usage: JsonObject = {}
  for (const { node, type, attempt, args, end } of past.calls) {
    if (askingOf(type)) asked.push({ node_id: node, type, args })
    else if (isActing(type) && type !== 'wait' && attempt === 1) sent.push({ node_id: node, type, args })
    addUsage(usage, end?.usage)
  }
  const { status, results, error } = past.state
  return {
    status,
    results: results ?? null,
    error: error ?? null,
    path: pathOf(past.state),
    sent,
    asked,
    unanswered: [],
    mocked: [],
    usage,
    durationMs: past.endedAt - past.startedAt,
  }
}

export const drive = async (deps: DriveDeps, context: Context, past: PastRun): Promise<Course> => {
  const driver = makeDriver(deps)
  const { state, at } = await driver.run({ context, prefix: '', past }, past.startedAt)
  return {
    status: hasEnded(state) ? state.status : 'waiting',
    results: state.results ?? null,
    error: state.error ?? null,
    path: pathOf(state),
    ...driver.report,
    durationMs: at - past.startedAt,
  }
}

const makeDriver = (deps: DriveDeps) => {
  const { workspaceId, turns } = deps
  const sent: Made[] = []
  const asked: Made[] = []
  const unanswered: string[] = []
  const mocked: Mocked[] = []
  const usage: JsonObject = {}
  const until = deps.now() + MAX_MS
  let commands = 0

  const complete = async (first: Step): Promise<Step> => {
    let step = first
    while (step.unfinished) {
      if (deps.now() > until) throw new Unreplayable('took_too_long', 'it computes longer than 10 s')
      await turns.next(workspaceId)
      const more = goOn(step.unfinished, turns.now(workspaceId))
      step = { ...more, facts: [...step.facts, ...more.facts] }
    }
    return step
  }

  const run = async (frame: Frame, startAt: number): Promise<End> => {
    const tasks: Task[] = []
    let clock = startAt
    let order = 0
    const take = async (step: Step): Promise<GraphState> => {
      for (const command of step.commands) {
        commands += 1
        if (commands > MAX_COMMANDS) throw new Unreplayable('too_many_nodes', `it runs more than ${MAX_COMMANDS} nodes`)
        const answer = await answerOf(frame, step.state, command, clock)
        if (answer) tasks.push({ ...answer, order: order++ })
      }
      return step.state
    }
    const go = async (step: Step): Promise<GraphState> => take(await complete(step))
    let state = await go(begin(frame.context, clock, emptyState(), turns.now(workspaceId)))
    while (!hasEnded(state)) {
      if (deps.now() > until) throw new Unreplayable('took_too_long', 'it computes longer than 10 s')
      tasks.sort((a, b) => a.at - b.at || a.order - b.order)
      const [next] = tasks
      const due = nextDue(state)
      if (next && (due === null || next.at <= due)) {
        tasks.shift()
        clock = Math.max(clock, next.at)
        for (const happening of next.happenings)
          state = await go(advance(frame.context, state, [happening], clock, turns.now(workspaceId)))
      } else if (due !== null) {
        clock = Math.max(clock, due)
        state = await go(advance(frame.context, state, [{ kind: 'time' }], clock, turns.now(workspaceId)))
      } else break
    }
    return { state, at: clock }
  }

  const recorded = (frame: Frame, node: Node, key: string, attempt: number): Call | undefined => {
    const calls = frame.past?.calls.filter((call) => call.node === node.id && call.key === key && call.end) ?? []
    return calls.find((call) => call.attempt === attempt) ?? calls.at(-1)
  }

  /** What the node gave then to other arguments, or what it would plausibly give. */
  const mock = (frame: Frame, node: Node): Json => {
    const reason = frame.past?.calls.some((call) => call.node === node.id) ? 'arguments_differ' : 'not_recorded'
    mocked.push({ node_id: frame.prefix + node.id, type: node.type, reason })
    const before = frame.past?.calls.findLast(
      (call) => call.node === node.id && call.type === node.type && call.end?.kind === 'succeeded',
    )
    if (before?.end?.kind === 'succeeded') return before.end.output
    return plausibleOutput(node, deps.descriptorOf(node.type))
  }

  type Answer = Omit<Task, 'order'>

  const answerOf = async (
    frame: Frame,
    state: GraphState,
    command: Command,
    clock: number,
  ): Promise<Answer | undefined> => {
    if (command.do === 'grace') return { at: clock, happenings: [{ kind: 'grace', until: clock + GRACE_MS }] }
    if (command.do === 'close' || command.do === 'abandon' || command.do === 'due') return undefined
    const node = compile(frame.context.graph).nodes.get(command.node) as Node
    const attempt = state.nodes[node.id]?.attempt ?? 1
    const ready = state.nodes[node.id]?.ready ?? 0
    const outer = settledBy(state, ready)
    const args = command.do === 'map' || command.do === 'loop' ? wholeArgs(frame, state, node) : command.args
    const key = keyOf(node, args, { ...frame.context.outer, ...outer })
    const call = recorded(frame, node, key, attempt)
    if (command.do === 'open') return answerQuestion(frame, node, command, call, clock)
    if (isActing(node.type) && attempt === 1) sent.push({ node_id: frame.prefix + node.id, type: node.type, args })
    if (call?.end) {
      addUsage(usage, call.end.usage)
      return { at: Math.max(clock, call.end.at), happenings: [endHappening(command, node, attempt, call.end)] }
    }
    switch (command.do) {
      case 'run':
        return { at: clock, happenings: [await runOrMock(frame, node, command)] }
      case 'child':
        return {
          at: clock,
          happenings: [{ kind: 'child', node: node.id, attempt, results: mock(frame, node), error: null }],
        }
      case 'map':
        return runItems(frame, state, command, clock)
      case 'loop':
        return { at: clock, happenings: [{ kind: 'done', node: node.id, attempt, output: mock(frame, node) }] }
    }
  }

  const answerQuestion = (
    frame: Frame,
    node: Node,
    { people, args }: Command & { do: 'open' },
    call: Call | undefined,
    clock: number,
  ): Answer => {
    const node_id = frame.prefix + node.id
    asked.push({ node_id, type: node.type, args })
    const opened: Happening = { kind: 'opened', node: node.id, people, data: {}, dueAt: null }
    if (!call?.end) {
      unanswered.push(node_id)
      return { at: clock, happenings: [opened] }
    }
    return { at: Math.max(clock, call.end.at), happenings: [opened, answerHappening(node, call.end)] }
  }

  const runOrMock = async (
    frame: Frame,
    node: Node,
    { attempt, args }: Command & { do: 'run' },
  ): Promise<Happening> => {
    const kind = deps.computing.get(node.type)
    if (!kind) return { kind: 'done', node: node.id, attempt, output: mock(frame, node) }
    try {
      const { output, port } = await kind.run(callOf(deps, frame, node, { attempt, args }))
      return { kind: 'done', node: node.id, attempt, output, ...(port !== undefined && { port }) }
    } catch (error) {
      const retryable = !(error instanceof NodeFailure) || error.retryable
      return { kind: 'error', node: node.id, attempt, error: errorOf(error), retryable }
    }
  }

  /** The record holds what a map gave as a whole: an item that is new or changed is run, with its effects mocked. */
  const runItems = async (
    frame: Frame,
    state: GraphState,
    { node, attempt, args: { items, body, onItemError } }: Command & { do: 'map' },
    clock: number,
  ): Promise<Answer | undefined> => {
    if (items.length > MAX_ITEMS) throw new Unreplayable('too_many_items', `a map has more than ${MAX_ITEMS} items`)
    const outer = { ...frame.context.outer, ...settledBy(state, state.nodes[node]?.ready ?? 0) }
    const outputs: Json[] = []
    let at = clock
    for (const [index, item] of items.entries()) {
      const prefix = `${frame.prefix}${node}[${index}].`
      const context: Context = {
        ...frame.context,
        graph: body,
        seed: `${frame.context.seed}:${prefix}`,
        item,
        index,
        outer,
      }
      const end = await run({ context, prefix, past: undefined }, clock)
      at = Math.max(at, end.at)
      // Somebody would have to answer first.
      if (!hasEnded(end.state)) return undefined
      const { status, results, error } = end.state
      if (status !== 'succeeded' && onItemError === 'fail') {
        const { code, message } = error ?? { code: 'failed', message: 'an item failed' }
        const details: JsonObject = { index, error: (error ?? null) as Json }
        return {
          at,
          happenings: [{ kind: 'error', node, attempt, error: { code, message, details }, retryable: false }],
        }
      }
      outputs.push(status === 'succeeded' ? (results ?? null) : { error: (error ?? null) as Json })
    }
    return { at, happenings: [{ kind: 'done', node, attempt, output: outputs }] }
  }

  return { run, report: { sent, asked, unanswered, mocked, usage } }
}

/** All arguments of a map or loop, its body included: what the record is keyed by. */
const wholeArgs = ({ context }: Frame, state: GraphState, node: Node): JsonObject => {
  const pass = openPass(context, compile(context.graph), state, { at: 0, allowance: UNLIMITED })
  return argsOf(pass, node, state.nodes[node.id]?.ready ?? 0)
}

const silent = { info() {}, warn() {}, error() {}, debug() {}, trace() {}, fatal() {} } as unknown as NodeCall['log']

const callOf = (
  deps: DriveDeps,
  { context, prefix }: Frame,
  node: Node,
  { attempt, args }: { attempt: number; args: JsonObject },
): NodeCall => ({
  workspaceId: deps.workspaceId,
  workflowId: null,
  executionId: context.seed,
  nodePath: prefix + node.id,
  attempt,
  args,
  effectKey: `${context.seed}:${prefix}${node.id}`,
  principalId: null,
  credentialIds: new Set(),
  startedBy: null,
  timeoutS: node.timeout_s,
  signal: AbortSignal.timeout(MAX_MS),
  log: silent,
  progress: () => {},
  step: (_name, work) => work(),
})
