import type { ExecutionError, Json, JsonObject } from '#model/definition'
import { isActing } from '#model/node-access'
import { requestKindOf } from '../interpreter/commands.ts'
import type { GraphState } from '../interpreter/state.ts'
import type { PastRun } from './record.ts'

export type EffectCall = { node_id: string; type: string; args: JsonObject }
export type Mocked = { node_id: string; type: string; reason: 'arguments_differ' | 'not_recorded' }
export type PathEntry = { node_id: string; status: string; port: string | null }

/** What an execution did, or would do. */
export type ExecutionTrace = {
  status: string
  results: Json
  error: ExecutionError | null
  path: PathEntry[]
  /** Requests, messages and other effects, in the order of their starts. */
  sent: EffectCall[]
  /** Gates, questions and waits for events that were opened. */
  asked: EffectCall[]
  /** The entries of `asked` that had no answer in the past execution. */
  unanswered: string[]
  mocked: Mocked[]
  usage: JsonObject
  durationMs: number
}

export const addUsage = (sum: JsonObject, more: JsonObject | undefined): void => {
  for (const [name, count] of Object.entries(more ?? {}))
    if (typeof count === 'number') sum[name] = Number(sum[name] ?? 0) + count
}

export const pathOf = (state: GraphState): PathEntry[] =>
  Object.entries(state.nodes)
    .map(([node_id, { status, port }]) => ({ node_id, status, port: port ?? null }))
    .sort((a, b) => (a.node_id < b.node_id ? -1 : 1))

/** Returns the trace of the past execution, in the same form as that of a candidate. */
export const traceOfPast = (past: PastRun): ExecutionTrace => {
  const sent: EffectCall[] = []
  const asked: EffectCall[] = []
  const usage: JsonObject = {}
  for (const { node, type, attempt, args, end } of past.calls) {
    if (requestKindOf(type)) asked.push({ node_id: node, type, args })
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
