import { momentOf } from '#model/cel-runtime'
import type { ExecutionError, Json, JsonObject } from '#model/definition'
import { resolveValue } from '#model/expressions'
import { MAX_VALUE_SIZE } from '#model/size'
import { isStorable } from '#model/storable'
import { unstorableText } from '../text.ts'
import { type Command, closingOf } from './commands.ts'
import { errorOf } from './errors.ts'
import { compute, type Pass, record } from './pass.ts'
import { scopeAt } from './scope.ts'
import { activeNodes, type Ending } from './state.ts'

// How a graph ends. If it has `finally` nodes, the end is announced first and then these nodes run. The execution
// then ends as announced, except that a success becomes a failure if a `finally` node fails or exceeds the time
// limit.

const END = {
  succeeded: 'execution.succeeded',
  failed: 'execution.failed',
  cancelled: 'execution.cancelled',
  timed_out: 'execution.timed_out',
} as const

/** Ends the graph with this status. `atOnce`: without running its `finally` nodes. */
export const conclude = (pass: Pass, status: Ending['status'], data: JsonObject, atOnce = false) => {
  const { last } = pass.compiled
  if (pass.state.ending) return
  if (last.length === 0 || pass.context.outer || atOnce) return record(pass, END[status], data)
  // Commands that start work are dropped. Everything that is open is closed.
  const closing: Command[] = pass.commands.filter((command) => command.do === 'close' || command.do === 'abandon')
  for (const [id, { attempt }] of activeNodes(pass.state)) {
    const node = pass.compiled.nodes.get(id)
    if (node) closing.push(...closingOf(node, attempt))
  }
  const { results: _results, ...kept } = data
  record(pass, 'execution.ending', { ...kept, status })
  pass.commands = [...closing, { do: 'grace', node: '' }]
  pass.toExamine = [...last]
  pass.toRetry = []
}

const resultsAt = (pass: Pass, position: number, at: number): Json => {
  const { output } = pass.compiled.graph
  if (output === undefined) return null
  const scope = scopeAt(pass.context, pass.state, position, momentOf(at, `${pass.context.seed}:output`))
  const results = compute(pass, MAX_VALUE_SIZE, (budget) => resolveValue(output, scope, budget))
  if (!isStorable(results)) throw unstorableText()
  return results
}

const skipRest = (pass: Pass, ids: Iterable<string>): void => {
  for (const id of ids) if (!pass.state.nodes[id]) record(pass, 'node.skipped', { node_id: id })
}

const end = (pass: Pass, { status, seq, at, data, error }: Ending) => {
  if (status !== 'succeeded') return record(pass, END[status], data)
  if (error) return record(pass, 'execution.failed', { error })
  try {
    // Computes the results as of the announcement, so the results of that time need not be stored.
    record(pass, 'execution.succeeded', { results: resultsAt(pass, seq - 1, at) })
  } catch (cause) {
    record(pass, 'execution.failed', { error: errorOf(cause) })
  }
}

/** Ends the graph when no node is active and none can become active. */
export const finish = (pass: Pass) => {
  const { ending } = pass.state
  if (ending) {
    skipRest(pass, pass.compiled.last)
    return end(pass, ending)
  }
  const isWhole = pass.compiled.last.length === 0 || pass.context.outer !== undefined
  skipRest(pass, isWhole ? pass.compiled.nodes.keys() : pass.compiled.first.toReversed())
  try {
    conclude(pass, 'succeeded', { results: resultsAt(pass, pass.state.seq, pass.at) })
  } catch (error) {
    conclude(pass, 'failed', { error: errorOf(error) })
  }
}

const NO_TIME: ExecutionError = {
  code: 'finally_timeout',
  message: 'the finally nodes took longer than settings.finally_grace_s',
}

/** Ends the execution when the time of the `finally` nodes is over. Their running work is interrupted. */
export const cutShort = (pass: Pass, ending: Ending): void => {
  const error = ending.error ?? NO_TIME
  if (ending.status === 'succeeded') record(pass, 'execution.failed', { error })
  else record(pass, END[ending.status], ending.data)
}
