import { hasBody } from '#model/body'
import type { Graph, Json, JsonObject, Node } from '#model/definition'
import { NodeFailure } from '../node.ts'
import type { Compiled } from './graph.ts'
import type { Asking, NodeState } from './state.ts'

/** What the worker does once the facts that led to it are durable. */
export type Command =
  | { do: 'run'; node: string; type: string; attempt: number; args: JsonObject; timeoutS?: number }
  | { do: 'open'; node: string; people: Asking; args: JsonObject }
  | { do: 'due'; node: string; people: Asking }
  /** `node` as in a path: a node, or what is below it where it ends with `[` (a map) or is empty (the whole item). */
  | { do: 'close'; node: string }
  /** `again`: it may have been started before, and may have ended since. */
  | { do: 'child'; node: string; attempt: number; args: JsonObject; again?: true }
  /** Nobody waits any more for the child that this attempt started. */
  | { do: 'abandon'; node: string; attempt: number }
  /** Asks how much time the `finally` nodes have. */
  | { do: 'grace'; node: '' }
  /** `again`: it was under way before; item rows say how far it came. */
  | { do: 'map'; node: string; attempt: number; args: MapArgs; again?: true }

  /** The same for a loop: the rows of its turns say how far it came. */
  | { do: 'loop'; node: string; attempt: number; args: LoopArgs; again?: true }

export type LoopArgs = {
  body: Graph
  /** Evaluated before each turn: the loop goes on as long as it is true. */
  while?: string
  /** Evaluated after each turn: the loop goes on until it is true. */
  until?: string
  maxIterations: number
  /** An expression or a number, evaluated before each turn but the first. */
  delayS?: Json
  /** What is collected after each turn. */
  collect?: Json
  state: Json
}

export type MapArgs = {
  items: JsonObject[string][]
  body: Graph
  concurrency: number
  onItemError: 'fail' | 'collect'
}

export const MAX_TURNS = 10_000

const conditionOf = (value: Json | undefined): string | undefined => {
  const cel = (value as { $cel?: unknown } | null | undefined)?.$cel
  return typeof cel === 'string' ? cel : undefined
}

export const loopArgs = (args: JsonObject): LoopArgs => {
  const { max_iterations: max, delay_s, collect, state } = args
  if (typeof max !== 'number' || !Number.isInteger(max) || max < 1 || max > MAX_TURNS) {
    const message = `max_iterations of a loop must be a whole number from 1 to ${MAX_TURNS}`
    throw new NodeFailure('args_invalid', message, { retryable: false })
  }
  const [whileCel, untilCel] = [conditionOf(args.while), conditionOf(args.until)]
  return {
    body: args.body as unknown as Graph,
    ...(whileCel !== undefined && { while: whileCel }),
    ...(untilCel !== undefined && { until: untilCel }),
    maxIterations: max,
    ...(delay_s != null && { delayS: delay_s }),
    ...(collect !== undefined && { collect }),
    state: state ?? null,
  }
}

const DEFAULT_CONCURRENCY = 10
const MAX_CONCURRENCY = 100

export const mapArgs = (args: JsonObject): MapArgs => {
  if (!Array.isArray(args.items)) {
    throw new NodeFailure('map_items', 'items of a map must be a list', { retryable: false })
  }
  const wanted = typeof args.concurrency === 'number' ? Math.trunc(args.concurrency) : DEFAULT_CONCURRENCY
  return {
    items: args.items,
    body: args.body as unknown as Graph,
    concurrency: Math.min(MAX_CONCURRENCY, Math.max(1, wanted)),
    onItemError: args.on_item_error === 'collect' ? 'collect' : 'fail',
  }
}

/** The kinds of nodes that ask somebody outside, and what they open. */
const ASKING: Readonly<Record<string, Asking>> = {
  approval: 'approval',
  clarification: 'clarification',
  'wait.event': 'event',
}
export const askingOf = (type: string): Asking | undefined => (Object.hasOwn(ASKING, type) ? ASKING[type] : undefined)

/** The kinds that ask for approval, or start executions, in the middle of what they do: they are suspended meanwhile. */
const SUSPENDABLE: ReadonlySet<string> = new Set(['agent.run'])
export const mayBeSuspended = (type: string): boolean => SUSPENDABLE.has(type)

/** Voids what a node that ended otherwise may have left: its gate or question, its child, or the gates inside its body. */
export const closingOf = ({ id, type, args }: Node, attempt: number): Command[] => {
  if (hasBody(type)) return [{ do: 'close', node: `${id}${attempt > 1 ? `#${attempt}` : ''}[` }]
  // One that is not waited for goes its own way.
  if (type === 'subworkflow') return args?.wait === false ? [] : [{ do: 'abandon', node: id, attempt }]
  return askingOf(type) || mayBeSuspended(type) ? [{ do: 'close', node: id }] : []
}

/** The command that (again) does what an active node is there for. `args` may throw; the caller turns that into a failure. */
export const commandFor = (
  compiled: Compiled,
  id: string,
  state: NodeState,
  args: () => JsonObject,
): Command | undefined => {
  const node = compiled.nodes.get(id)
  if (!node) return undefined
  switch (node.type) {
    case 'wait':
    case 'set':
    case 'branch':
    case 'fail':
      return undefined
    case 'approval':
    case 'clarification':
    case 'wait.event':
      return { do: 'open', node: id, people: askingOf(node.type) as Asking, args: args() }
    case 'subworkflow':
      return { do: 'child', node: id, attempt: state.attempt, args: args(), again: true }
    case 'map':
      return { do: 'map', node: id, attempt: state.attempt, args: mapArgs(args()), again: true }
    case 'loop':
      return { do: 'loop', node: id, attempt: state.attempt, args: loopArgs(args()), again: true }
    default: {
      const timeout = node.timeout_s === undefined ? {} : { timeoutS: node.timeout_s }
      return { do: 'run', node: id, type: node.type, attempt: state.attempt, args: args(), ...timeout }
    }
  }
}
