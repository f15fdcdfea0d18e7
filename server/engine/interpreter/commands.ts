import { hasBody } from '#model/body'
import type { Graph, Json, JsonObject, Node } from '#model/definition'
import { NodeFailure } from '../node.ts'
import type { Compiled } from './graph.ts'
import type { NodeState, RequestKind } from './state.ts'

/** An action of the worker. One with an effect is performed after the events that led to it are durable. */
export type Command =
  | { do: 'run'; node: string; type: string; attempt: number; args: JsonObject; timeoutS?: number }
  | { do: 'open'; node: string; people: RequestKind; args: JsonObject }
  | { do: 'due'; node: string; people: RequestKind }
  /**
   * `node` is a prefix of paths: a node, everything below it if it ends with `[` (a map), or the whole item if it is
   * empty.
   */
  | { do: 'close'; node: string }
  /** `again`: the child may have been started before, and may have ended since. */
  | { do: 'child'; node: string; attempt: number; args: JsonObject; again?: true }
  /** The child that this attempt started is no longer awaited. */
  | { do: 'abandon'; node: string; attempt: number }
  /** Requests the time limit of the `finally` nodes. */
  | { do: 'grace'; node: '' }
  /** `again`: the map was started before. Item rows contain its progress. */
  | { do: 'map'; node: string; attempt: number; args: MapArgs; again?: true }

  /** `again`: the loop was started before. The rows of its iterations contain its progress. */
  | { do: 'loop'; node: string; attempt: number; args: LoopArgs; again?: true }

export type LoopArgs = {
  body: Graph
  /** Evaluated before each iteration: the loop continues while it is true. */
  while?: string
  /** Evaluated after each iteration: the loop continues until it is true. */
  until?: string
  maxIterations: number
  /** An expression or a number, evaluated before each iteration except the first. */
  delayS?: Json
  /** The value that is collected after each iteration. */
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

/** The node kinds that ask people or wait for an event, and what each of them opens. */
const REQUEST_KINDS: Readonly<Record<string, RequestKind>> = {
  approval: 'approval',
  clarification: 'clarification',
  'wait.event': 'event',
}
export const requestKindOf = (type: string): RequestKind | undefined =>
  Object.hasOwn(REQUEST_KINDS, type) ? REQUEST_KINDS[type] : undefined

/**
 * The node kinds that request approval or start executions while they run. They are suspended until the result
 * arrives.
 */
const SUSPENDABLE: ReadonlySet<string> = new Set(['agent.run'])
export const mayBeSuspended = (type: string): boolean => SUSPENDABLE.has(type)

/**
 * Returns the commands that close what a failed node may have left open: its gate or question, its child, or the
 * gates inside its body.
 */
export const closingOf = ({ id, type, args }: Node, attempt: number): Command[] => {
  if (hasBody(type)) return [{ do: 'close', node: `${id}${attempt > 1 ? `#${attempt}` : ''}[` }]
  // A child that is not awaited continues on its own.
  if (type === 'subworkflow') return args?.wait === false ? [] : [{ do: 'abandon', node: id, attempt }]
  return requestKindOf(type) || mayBeSuspended(type) ? [{ do: 'close', node: id }] : []
}

/**
 * Returns the command that does (or repeats) the work of an active node. `args` may throw; the caller turns the error
 * into a failure.
 */
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
      return { do: 'open', node: id, people: requestKindOf(node.type) as RequestKind, args: args() }
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
