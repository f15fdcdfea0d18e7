import type { Json, JsonObject, Node } from '#model/definition'
import { isActing } from '#model/node-access'
import { argsOf } from '../interpreter/activate.ts'
import type { Command } from '../interpreter/commands.ts'
import type { Context } from '../interpreter/context.ts'
import { errorOf } from '../interpreter/errors.ts'
import { compile } from '../interpreter/graph.ts'
import type { GraphMessage } from '../interpreter/graph-message.ts'
import { openPass, UNLIMITED } from '../interpreter/pass.ts'
import { type GraphState, hasEnded } from '../interpreter/state.ts'
import { type NodeCall, NodeFailure, type NodeKind } from '../node.ts'
import { sampleOutput } from '../trying/sample-output.ts'
import type { Turns } from '../worker/turns.ts'
import { answerMessage, endMessage } from './messages.ts'
import { type Call, keyOf, type PastRun, settledBy } from './record.ts'
import { addUsage, type ExecutionTrace } from './trace.ts'

// Answers the commands of the interpreter: from the record, by computing, or with a mock.

/** The reason why an execution cannot be compared with a candidate. */
export class Unreplayable extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export type ReplayRunDeps = {
  workspaceId: string
  turns: Turns
  /** Kinds that only compute. They really run if the record has no answer. */
  computing: ReadonlyMap<string, NodeKind>
  descriptorOf(type: string): NodeKind['descriptor'] | undefined
  /** Returns the milliseconds of this machine, to stop an execution that computes too long. */
  now(): number
}

export type Frame = { context: Context; prefix: string; past: PastRun | undefined }
export type End = { state: GraphState; at: number }
export type Report = Pick<ExecutionTrace, 'sent' | 'asked' | 'unanswered' | 'mocked' | 'usage'>

/** One replay. `run` runs a graph in it: the definition itself, or the body of a map. */
export type ReplayRun = {
  deps: ReplayRunDeps
  report: Report
  until: number
  commands: number
  run(frame: Frame, startAt: number): Promise<End>
}

export type Answer = { at: number; messages: GraphMessage[] }

export const MAX_MS = 10_000
const MAX_ITEMS = 1_000
const GRACE_MS = 60_000

function recorded(frame: Frame, node: Node, key: string, attempt: number): Call | undefined {
  const calls = frame.past?.calls.filter((call) => call.node === node.id && call.key === key && call.end) ?? []
  return calls.find((call) => call.attempt === attempt) ?? calls.at(-1)
}

/** Returns the recorded output of the node for other arguments, or otherwise a plausible output. */
function mock({ deps, report }: ReplayRun, frame: Frame, node: Node): Json {
  const reason = frame.past?.calls.some((call) => call.node === node.id) ? 'arguments_differ' : 'not_recorded'
  report.mocked.push({ node_id: frame.prefix + node.id, type: node.type, reason })
  const before = frame.past?.calls.findLast(
    (call) => call.node === node.id && call.type === node.type && call.end?.kind === 'succeeded',
  )
  if (before?.end?.kind === 'succeeded') return before.end.output
  return sampleOutput(node, deps.descriptorOf(node.type))
}

/** Returns the recorded result of a command. Undefined if the command has no result. */
export async function answerOf(
  drive: ReplayRun,
  frame: Frame,
  state: GraphState,
  command: Command,
  clock: number,
): Promise<Answer | undefined> {
  if (command.do === 'grace') return { at: clock, messages: [{ kind: 'grace', until: clock + GRACE_MS }] }
  if (command.do === 'close' || command.do === 'abandon' || command.do === 'due') return undefined
  const node = compile(frame.context.graph).nodes.get(command.node) as Node
  const attempt = state.nodes[node.id]?.attempt ?? 1
  const ready = state.nodes[node.id]?.ready ?? 0
  const outer = settledBy(state, ready)
  const args = command.do === 'map' || command.do === 'loop' ? wholeArgs(frame, state, node) : command.args
  const key = keyOf(node, args, { ...frame.context.outer, ...outer })
  const call = recorded(frame, node, key, attempt)
  if (command.do === 'open') return answerQuestion(drive.report, frame, node, command, call, clock)
  if (isActing(node.type) && attempt === 1)
    drive.report.sent.push({ node_id: frame.prefix + node.id, type: node.type, args })
  if (call?.end) {
    addUsage(drive.report.usage, call.end.usage)
    return { at: Math.max(clock, call.end.at), messages: [endMessage(command, node, attempt, call.end)] }
  }
  switch (command.do) {
    case 'run':
      return { at: clock, messages: [await runOrMock(drive, frame, node, command)] }
    case 'child':
      return {
        at: clock,
        messages: [{ kind: 'child', node: node.id, attempt, results: mock(drive, frame, node), error: null }],
      }
    case 'map':
      return runItems(drive, frame, state, command, clock)
    case 'loop':
      return { at: clock, messages: [{ kind: 'done', node: node.id, attempt, output: mock(drive, frame, node) }] }
  }
}

function answerQuestion(
  report: Report,
  frame: Frame,
  node: Node,
  { people, args }: Command & { do: 'open' },
  call: Call | undefined,
  clock: number,
): Answer {
  const node_id = frame.prefix + node.id
  report.asked.push({ node_id, type: node.type, args })
  const opened: GraphMessage = { kind: 'opened', node: node.id, people, data: {}, dueAt: null }
  if (!call?.end) {
    report.unanswered.push(node_id)
    return { at: clock, messages: [opened] }
  }
  return { at: Math.max(clock, call.end.at), messages: [opened, answerMessage(node, call.end)] }
}

async function runOrMock(
  drive: ReplayRun,
  frame: Frame,
  node: Node,
  { attempt, args }: Command & { do: 'run' },
): Promise<GraphMessage> {
  const kind = drive.deps.computing.get(node.type)
  if (!kind) return { kind: 'done', node: node.id, attempt, output: mock(drive, frame, node) }
  try {
    const { output, port } = await kind.run(callOf(drive.deps, frame, node, { attempt, args }))
    return { kind: 'done', node: node.id, attempt, output, ...(port !== undefined && { port }) }
  } catch (error) {
    const retryable = !(error instanceof NodeFailure) || error.retryable
    return { kind: 'error', node: node.id, attempt, error: errorOf(error), retryable }
  }
}

/**
 * Runs the items of a map with mocked effects. The record contains only the result of a whole map, so it cannot
 * answer a new or changed item.
 */
async function runItems(
  drive: ReplayRun,
  frame: Frame,
  state: GraphState,
  { node, attempt, args: { items, body, onItemError } }: Command & { do: 'map' },
  clock: number,
): Promise<Answer | undefined> {
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
    const end = await drive.run({ context, prefix, past: undefined }, clock)
    at = Math.max(at, end.at)
    // The item waits for an answer.
    if (!hasEnded(end.state)) return undefined
    const { status, results, error } = end.state
    if (status !== 'succeeded' && onItemError === 'fail') {
      const { code, message } = error ?? { code: 'failed', message: 'an item failed' }
      const details: JsonObject = { index, error: (error ?? null) as Json }
      return {
        at,
        messages: [{ kind: 'error', node, attempt, error: { code, message, details }, retryable: false }],
      }
    }
    outputs.push(status === 'succeeded' ? (results ?? null) : { error: (error ?? null) as Json })
  }
  return { at, messages: [{ kind: 'done', node, attempt, output: outputs }] }
}

/** Returns all arguments of a map or loop, including its body. The record is keyed by them. */
function wholeArgs({ context }: Frame, state: GraphState, node: Node): JsonObject {
  const pass = openPass(context, compile(context.graph), state, { at: 0, allowance: UNLIMITED })
  return argsOf(pass, node, state.nodes[node.id]?.ready ?? 0)
}

const silent = { info() {}, warn() {}, error() {}, debug() {}, trace() {}, fatal() {} } as unknown as NodeCall['log']

const callOf = (
  deps: ReplayRunDeps,
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
