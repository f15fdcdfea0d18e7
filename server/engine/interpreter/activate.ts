import type { Json, JsonObject, Node } from '#model/definition'
import { evaluateCondition, resolveArgs } from '#model/expressions'
import { NodeFailure } from '../node.ts'
import { fail } from '../nodes/fail.ts'
import { type ControlKind, checkArgs } from '../nodes/kind.ts'
import { wait } from '../nodes/wait.ts'
import { commandFor, mapArgs } from './commands.ts'
import { failed } from './failing.ts'
import type { Compiled } from './graph.ts'
import { type Pass, record, settle } from './pass.ts'
import { type Context, edgeState, scopeAt } from './scope.ts'
import type { GraphState } from './state.ts'

export const argsOf = (
  context: Context,
  compiled: Compiled,
  state: GraphState,
  id: string,
  position: number,
): JsonObject => resolveArgs(compiled.nodes.get(id) as Node, scopeAt(context, state, position))

const bad = (code: string, message: string): NodeFailure => new NodeFailure(code, message, { retryable: false })

/** What a branch passes on: the output of the node that led to it, or the execution's input. */
const inputOf = (pass: Pass, id: string): Json => {
  for (const edge of pass.compiled.incoming.get(id) ?? []) {
    if (edgeState(pass.context, pass.state, edge) === 'taken') return pass.state.nodes[edge.from.node]?.output ?? null
  }
  return pass.context.input
}

const branch = (pass: Pass, node: Node): JsonObject => {
  const scope = scopeAt(pass.context, pass.state, pass.state.seq)
  const cases = (node.args?.cases ?? []) as { port: string; when: { $cel: string } }[]
  const chosen = cases.find((option) => evaluateCondition(option.when.$cel, scope))
  return { output: inputOf(pass, node.id), port: chosen?.port ?? 'default' }
}

/** As those of other kinds are before they run; null stands for something absent. */
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
  if (Number.isNaN(date.getTime())) throw bad('wait_invalid', 'the wait ends later than any calendar')
  return date.toISOString()
}

const expiry = (pass: Pass, node: Node): JsonObject =>
  node.timeout_s === undefined ? {} : { expires: isoTime(pass.at + node.timeout_s * 1000) }

/** A node whose inputs are settled: control nodes are decided here, the others become a command. */
export const activate = (pass: Pass, id: string, attempt = 1) => {
  const node = pass.compiled.nodes.get(id)
  if (!node) return
  const position = pass.state.nodes[id]?.ready ?? pass.state.seq
  const args = (): JsonObject => argsOf(pass.context, pass.compiled, pass.state, id, position)
  const start = (data: JsonObject = {}): void => record(pass, 'node.started', { node_id: id, attempt, ...data })
  const succeed = (data: JsonObject): void => {
    record(pass, 'node.succeeded', { node_id: id, attempt, ...data })
    settle(pass, id)
  }
  try {
    switch (node.type) {
      case 'set':
        return succeed({ output: args().values ?? {} })
      case 'branch':
        return succeed(branch(pass, node))
      case 'fail': {
        const { code, message } = checkedArgs(fail, args())
        throw bad(
          typeof code === 'string' ? code : 'failed',
          typeof message === 'string' ? message : 'the workflow failed',
        )
      }
      case 'wait':
        return start({ until: isoTime(untilOf(pass, checkedArgs(wait, args()))), ...expiry(pass, node) })
      case 'subworkflow': {
        const resolved = args()
        start({ child_execution: true, ...expiry(pass, node) })
        pass.commands.push({ do: 'child', node: id, attempt, args: resolved })
        return
      }
      case 'map': {
        const resolved = mapArgs(args())
        start({ total: resolved.items.length, ...expiry(pass, node) })
        pass.commands.push({ do: 'map', node: id, attempt, args: resolved })
        return
      }
      default: {
        // Resolved before the start is recorded: the first attempt sees what every later one will.
        const resolved = args()
        const people = node.type === 'approval' || node.type === 'clarification'
        start(people ? expiry(pass, node) : {})
        const state = pass.state.nodes[id]
        const command = state && commandFor(pass.compiled, id, state, () => resolved)
        if (command) pass.commands.push(command)
      }
    }
  } catch (error) {
    failed(pass, id, attempt, error, false)
  }
}
