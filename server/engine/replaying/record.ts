import { createHash } from 'node:crypto'
import { hasBody } from '#model/body'
import { canonicalText } from '#model/canonical'
import type { ExecutionError, Json, JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'
import { argsOf } from '../interpreter/activate.ts'
import { apply } from '../interpreter/apply.ts'
import { requestKindOf } from '../interpreter/commands.ts'
import type { Context } from '../interpreter/context.ts'
import { compile } from '../interpreter/graph.ts'
import { openPass, UNLIMITED } from '../interpreter/pass.ts'
import { emptyState, type GraphState, type JournalEvent } from '../interpreter/state.ts'

// The calls of a past execution and their results. The journal contains the results. The arguments are derived from
// it, as in a takeover by another worker: at each start of a node, they are resolved from the nodes that had settled
// by then.

export type CallEnd = { at: number; usage?: JsonObject } & (
  | { kind: 'succeeded'; output: Json; port?: string }
  | { kind: 'failed' | 'retrying'; error: ExecutionError }
)

export type Call = { node: string; type: string; attempt: number; args: JsonObject; key: string; end?: CallEnd }

export type PastRun = {
  calls: Call[]
  /** The state at the end, including outputs. */
  state: GraphState
  startedAt: number
  endedAt: number
}

const hash = (value: Json): string => createHash('sha256').update(canonicalText(value)).digest('base64')

/** The fields that identify a question. Who must answer it, and until when, does not matter. */
const QUESTION: Readonly<Record<string, readonly string[]>> = {
  approval: ['title', 'description', 'payload'],
  clarification: ['question', 'schema'],
  'wait.event': ['key', 'name', 'schema'],
}

const questionOf = (type: string, args: JsonObject): JsonObject =>
  Object.fromEntries((QUESTION[type] ?? []).flatMap((name) => (name in args ? [[name, args[name] as Json]] : [])))

/** Returns the outputs of the surrounding graph that the text of a body names. */
const seenFrom = (args: JsonObject, outer: Record<string, { output: Json }>): JsonObject => {
  const text = JSON.stringify(args.body ?? null)
  // A computed name could be any node.
  const isAny = /nodes\s*\[\s*[^"'\\\s]/.test(text)
  return Object.fromEntries(
    Object.entries(outer).flatMap(([id, { output }]) => (isAny || text.includes(id) ? [[id, output]] : [])),
  )
}

/**
 * Returns the same key for the same node, kind and arguments. `outer`: the outputs that its body sees, if it has a
 * body.
 */
export const keyOf = ({ id, type }: Node, args: JsonObject, outer: Record<string, { output: Json }>): string => {
  if (requestKindOf(type)) return hash([id, type, questionOf(type, args)])
  return hash([id, type, args, hasBody(type) ? seenFrom(args, outer) : null])
}

/** Returns the outputs of nodes that had settled at this position. */
export const settledBy = ({ nodes }: GraphState, position: number): Record<string, { output: Json }> => {
  const settled: Record<string, { output: Json }> = {}
  for (const [id, node] of Object.entries(nodes))
    if (node.settled !== undefined && node.settled <= position) settled[id] = { output: node.output ?? null }
  return settled
}

const endOf = (event: JournalEvent): CallEnd | undefined => {
  const { at, data } = event
  const usage = isObject(data.usage) ? { usage: data.usage } : {}
  switch (event.type) {
    case 'node.succeeded':
      return {
        at,
        ...usage,
        kind: 'succeeded',
        output: data.output ?? null,
        ...(typeof data.port === 'string' && { port: data.port }),
      }
    case 'node.failed':
    case 'node.retrying':
      return {
        at,
        kind: event.type === 'node.failed' ? 'failed' : 'retrying',
        error: data.error as unknown as ExecutionError,
      }
    default:
      return undefined
  }
}

/** `events` is the whole journal, including the values from the blob store. */
export const readPastRun = (context: Context, events: readonly JournalEvent[]): PastRun => {
  const compiled = compile(context.graph)
  const state = emptyState()
  const calls: Call[] = []
  const open = new Map<string, Call>()
  for (const event of events) {
    apply(state, event)
    const id = event.data.node_id
    const node = typeof id === 'string' && event.data.in_map !== true ? compiled.nodes.get(id) : undefined
    if (!node) continue
    if (event.type === 'node.started') {
      const call = begun(context, state, node, event)
      if (!call) continue
      calls.push(call)
      open.set(node.id, call)
    } else {
      const end = endOf(event)
      const call = end && open.get(node.id)
      if (end && call) call.end = end
      if (end) open.delete(node.id)
    }
  }
  return { calls, state, startedAt: events[0]?.at ?? 0, endedAt: events.at(-1)?.at ?? 0 }
}

const begun = (context: Context, state: GraphState, node: Node, event: JournalEvent): Call | undefined => {
  const ready = state.nodes[node.id]?.ready ?? state.seq
  const pass = openPass(context, compile(context.graph), state, { at: event.at, allowance: UNLIMITED })
  try {
    const args = argsOf(pass, node, ready)
    const key = keyOf(node, args, settledBy(state, ready))
    return { node: node.id, type: node.type, attempt: Number(event.data.attempt ?? 1), args, key }
  } catch {
    // This release may have lower limits than the one that ran the node. Without its arguments, the call cannot be
    // compared.
    return undefined
  }
}
