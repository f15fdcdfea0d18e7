import { type Moment, momentOf } from '#model/cel-runtime'
import type { JsonObject, Node } from '#model/definition'
import { evaluateCondition, resolveArgs } from '#model/expressions'
import { MAX_SHOWN_SIZE, MAX_VALUE_SIZE } from '#model/size'
import { isStorable } from '#model/storable'
import { NodeFailure } from '../node.ts'
import { fail } from '../nodes/fail.ts'
import { type ControlKind, checkArgs } from '../nodes/kind.ts'
import { wait } from '../nodes/wait.ts'
import { type TextIn, unstorableText } from '../text.ts'
import { commandFor, loopArgs, mapArgs, requestKindOf } from './commands.ts'
import { failed } from './failing.ts'
import { compute, decide, isUsedUp, type Pass, record } from './pass.ts'
import { edgeState, scopeAt } from './scope.ts'
import { succeed } from './succeed.ts'

/** Values that are shown to people are also stored in lists, so their size limit is lower. */
const sizeFor = ({ type }: Node): number => (requestKindOf(type) ? MAX_SHOWN_SIZE : MAX_VALUE_SIZE)

/**
 * `now()` is the time when the node first started. It is the same on every attempt and after a takeover, so the
 * arguments never change.
 */
const momentFor = (pass: Pass, id: string): Moment =>
  momentOf(pass.state.nodes[id]?.started_at ?? pass.at, `${pass.context.seed}:${id}`)

export const argsOf = (pass: Pass, node: Node, position: number): JsonObject => {
  const scope = scopeAt(pass.context, pass.state, position, momentFor(pass, node.id))
  return compute(pass, sizeFor(node), (budget) => resolveArgs(node, scope, budget))
}

const bad = (code: string, message: string): NodeFailure => new NodeFailure(code, message, { retryable: false })

/**
 * Returns the value that a branch or a disabled node passes on: the output of the node that led to it, or the input
 * of the execution.
 */
const inputOf = (pass: Pass, id: string): JsonObject => {
  for (const edge of pass.compiled.incoming.get(id) ?? []) {
    if (edgeState(pass, edge) !== 'taken') continue
    const source = pass.state.nodes[edge.from.node]
    return { output: source?.output ?? null, ...(source?.blob && { blob: source.blob }) }
  }
  return { output: pass.context.input }
}

/** Returns undefined if the allowance is used up before the next case, so that other work can run. */
const branch = (pass: Pass, node: Node): JsonObject | undefined => {
  const scope = scopeAt(pass.context, pass.state, pass.state.seq, momentFor(pass, node.id))
  const cases = (node.args?.cases ?? []) as { port: string; when: { $cel: string } }[]
  for (let at = pass.cases.get(node.id) ?? 0; at < cases.length; at += 1) {
    if (isUsedUp(pass)) {
      pass.cases.set(node.id, at)
      return undefined
    }
    const { port, when } = cases[at] as (typeof cases)[number]
    if (decide(pass, (budget) => evaluateCondition(when.$cel, scope, budget)))
      return { ...inputOf(pass, node.id), port }
  }
  return { ...inputOf(pass, node.id), port: 'default' }
}

/** Checks the arguments as those of other node kinds are checked before they run. Null counts as absent. */
const checkedArgs = ({ descriptor }: ControlKind, args: JsonObject): JsonObject => {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
  checkArgs(descriptor, given)
  return given
}

const untilOf = (pass: Pass, args: JsonObject): number => {
  if (typeof args.for_s === 'number' && Number.isFinite(args.for_s)) return pass.at + Math.max(0, args.for_s * 1000)
  const until = typeof args.until === 'string' ? Date.parse(args.until) : Number.NaN
  if (Number.isNaN(until)) throw bad('wait_invalid', 'a wait needs for_s, a number of seconds, or until, a time')
  return until
}

const isoTime = (ms: number): string => {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) throw bad('wait_invalid', 'the end of the wait is too far in the future')
  return date.toISOString()
}

const requireStorable = (where: TextIn, value: unknown): void => {
  if (!isStorable(value)) throw unstorableText(where)
}

const expiry = (pass: Pass, node: Node): JsonObject =>
  node.timeout_s === undefined ? {} : { expires: isoTime(pass.at + node.timeout_s * 1000) }

/**
 * Activates a node whose inputs are settled: decides a control node here, and turns any other node into a command.
 * Returns false if the allowance was used up and the node is not finished.
 */
export const activate = (pass: Pass, id: string, attempt = 1): boolean => {
  const node = pass.compiled.nodes.get(id)
  if (!node) return true
  try {
    return begin(pass, node, attempt)
  } catch (error) {
    failed(pass, id, attempt, error, false)
    return true
  }
}

const begin = (pass: Pass, node: Node, attempt: number): boolean => {
  const { id } = node
  const position = pass.state.nodes[id]?.ready ?? pass.state.seq
  const args = (): JsonObject => argsOf(pass, node, position)
  const start = (data: JsonObject = {}): void => record(pass, 'node.started', { node_id: id, attempt, ...data })
  if (node.disabled === true) {
    succeed(pass, id, attempt, inputOf(pass, id))
    return true
  }
  switch (node.type) {
    case 'set': {
      const output = args().values ?? {}
      requireStorable('output', output)
      succeed(pass, id, attempt, { output })
      return true
    }
    case 'branch': {
      const chosen = branch(pass, node)
      if (chosen) succeed(pass, id, attempt, chosen)
      return chosen !== undefined
    }
    case 'fail': {
      const { code, message } = checkedArgs(fail, args())
      throw bad(
        typeof code === 'string' ? code : 'failed',
        typeof message === 'string' ? message : 'the workflow failed',
      )
    }
    case 'wait':
      start({ until: isoTime(untilOf(pass, checkedArgs(wait, args()))), ...expiry(pass, node) })
      return true
    case 'subworkflow': {
      const resolved = args()
      requireStorable('input', resolved.input)
      start({ child_execution: true, ...expiry(pass, node) })
      pass.commands.push({ do: 'child', node: id, attempt, args: resolved })
      return true
    }
    case 'map': {
      const resolved = mapArgs(args())
      start({ total: resolved.items.length, ...expiry(pass, node) })
      pass.commands.push({ do: 'map', node: id, attempt, args: resolved })
      return true
    }
    case 'loop': {
      const resolved = loopArgs(args())
      requireStorable('state', resolved.state)
      start({ turns: 0, ...expiry(pass, node) })
      pass.commands.push({ do: 'loop', node: id, attempt, args: resolved })
      return true
    }
    default: {
      // The arguments are resolved before the start is recorded, so the first attempt sees the same values as every
      // later one.
      const resolved = args()
      const isRequest = requestKindOf(node.type) !== undefined
      if (isRequest) requireStorable('argument', resolved)
      start(isRequest ? expiry(pass, node) : {})
      const state = pass.state.nodes[id]
      const command = state && commandFor(pass.compiled, id, state, () => resolved)
      if (command) pass.commands.push(command)
      return true
    }
  }
}
