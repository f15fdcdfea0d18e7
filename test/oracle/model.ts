import type { Edge, Graph, Json, JsonObject, Node } from '#model/definition'
import { AnError, AnyId, type Expected, OneOf } from './expected.ts'

// The rules of docs/workflows.md and docs/nodes.md for a graph, written without the engine: it evaluates the nodes in
// topological order, each from its incoming edges alone. It knows only the nodes and expressions that graphs.ts makes.

export type NodeEnd = {
  /** `unreached`: the execution ended before the incoming edges of the node were settled. */
  status: 'succeeded' | 'failed' | 'skipped' | 'unreached'
  output: Expected
  port: string
  attempt: number
}
export type GraphEnd = {
  nodes: Record<string, NodeEnd>
  /** Undefined if the execution fails. */
  results?: Expected
  /** The errors that may end the execution; any of them may be the first. */
  errors: AnError[]
}

/** The input of a graph. `outer`: outputs of the graph around a map or loop. */
export type Given = {
  input: JsonObject
  item?: Json
  index?: number
  /** The state and the number of the current iteration of a loop. */
  state?: Expected
  turn?: number
  outer?: Record<string, Expected>
  definitions: ReadonlyMap<string, Graph>
}

/** `status`: how the execution will end, as its `finally` nodes see it. */
type Seen = Given & { nodes: Record<string, NodeEnd>; status?: 'succeeded' | 'failed' }

const outputOf = ({ nodes, outer }: Seen, id: string): Expected => nodes[id]?.output ?? outer?.[id] ?? null

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a value with its references resolved. */
function resolve(value: Json, seen: Seen): Expected {
  if (Array.isArray(value)) return value.map((one) => resolve(one, seen))
  if (!isObject(value)) return value
  if (typeof value.$ref !== 'string')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, seen)]))
  const [root, name] = value.$ref.split('.')
  if (root === 'input') return seen.input[name!] ?? null
  if (root === 'nodes') return outputOf(seen, name!)
  if (root === 'execution') return seen.status ?? null
  if (root === 'state') return seen.state ?? null
  if (root === 'turn') return seen.turn ?? null
  return (root === 'index' ? seen.index : seen.item) ?? null
}

const holds = (cel: string, seen: Seen): boolean => {
  const [, id] = /^nodes\.(\w+)\.output != null$/.exec(cel) ?? []
  if (id !== undefined) return outputOf(seen, id) !== null
  if (cel === 'input.x > 5.0') return Number(seen.input.x) > 5
  if (cel === 'index == 1') return seen.index === 1
  const [, turn] = /^turn == (\d+)$/.exec(cel) ?? []
  if (turn !== undefined) return seen.turn === Number(turn)
  throw new Error(`the model does not know ${cel}`)
}

/** The result of an attempt: an output and a port, or the possible errors. */
type Attempt = { output: Expected; port?: string } | { errors: AnError[]; retryable: boolean }

const failure = (code: string, retryable: boolean): Attempt => ({ errors: [new AnError({ code })], retryable })

/** A wait for a person who never answers ends with its timeout. */
const answerTo = (asked: Json | undefined, output: Expected, port?: string): Attempt =>
  asked === 'never' ? failure('timeout', true) : { output, ...(port !== undefined && { port }) }

function attemptOf(node: Node, attempt: number, seen: Seen, graph: Graph): Attempt {
  const args = (node.args ?? {}) as Record<string, Json>
  switch (node.type) {
    case 'work':
    case 'once': {
      const { fails = 0, late = 0 } = args as { fails?: number; late?: number }
      // The effect of a failed attempt is not known, so a node that must happen at most once is not retried.
      if (attempt <= fails) return failure('no', args.final !== true && node.type !== 'once')
      if (attempt <= fails + late) return failure('timeout', true)
      return { output: resolve(args.value ?? null, seen) }
    }
    case 'set':
      return { output: resolve(args.values ?? {}, seen) }
    case 'fail':
      return failure(String(args.code), false)
    case 'wait':
      return Number(args.for_s) > (node.timeout_s ?? Number.POSITIVE_INFINITY)
        ? failure('timeout', true)
        : { output: { waited_s: args.for_s! } }
    case 'branch': {
      const cases = args.cases as { port: string; when: { $cel: string } }[]
      const port = cases.find(({ when }) => holds(when.$cel, seen))?.port ?? 'default'
      const led = takenInto(graph, node.id, seen)[0]
      return { output: led ? outputOf(seen, led.from.node) : seen.input, port }
    }
    case 'approval': {
      const rejected = args.title === 'no'
      const isLed = graph.edges.some(({ from }) => from.node === node.id && from.port === 'rejected')
      if (rejected && !isLed) return failure('approval_rejected', false)
      const status = rejected ? 'rejected' : 'approved'
      return answerTo(args.title, { status }, status)
    }
    case 'clarification':
      return answerTo(args.question, 'answered')
    case 'wait.event':
      return answerTo(args.key, 'came')
    case 'subworkflow': {
      if (args.wait === false) return { output: { execution_id: new AnyId() } }
      const child = seen.definitions.get(String(args.workflow_id))!
      const input = resolve(args.input ?? {}, seen) as JsonObject
      const { results, errors } = endOf(child, { input, definitions: seen.definitions })
      return errors.length === 0 ? { output: results! } : { errors, retryable: true }
    }
    case 'map':
      return mapOf(args, seen)
    case 'loop':
      return loopOf(args, seen)
    default:
      throw new Error(`the model does not know ${node.type}`)
  }
}

/** Returns the input of the body of a map or loop, without its own item or iteration. */
const givenWithin = ({ input, definitions, item, index, state, turn, ...seen }: Seen): Given => ({
  input,
  definitions,
  ...(index !== undefined && { item: item ?? null, index }),
  ...(turn !== undefined && { state: state ?? null, turn }),
  outer: {
    ...seen.outer,
    ...Object.fromEntries(Object.keys(seen.nodes).map((id) => [id, outputOf({ ...seen, input, definitions }, id)])),
  },
})

function loopOf(args: Record<string, Json>, seen: Seen): Attempt {
  const { body, until, collect } = args as unknown as { body: Graph; until: { $cel: string }; collect?: Json }
  const given = givenWithin(seen)
  const collected: Expected[] = []
  let state = resolve(args.state ?? null, seen)
  for (let turn = 0; ; ) {
    const after = { ...seen, state, turn }
    if (turn > 0 && holds(until.$cel, after))
      return { output: { turns: turn, state, ...(collect !== undefined && { collected }) } }
    if (turn === args.max_iterations) return failure('loop_limit', false)
    const end = endOf(body, { ...given, state, turn })
    // The loop fails with the error of an iteration, but the error names the loop as its node.
    if (end.errors.length > 0) return { errors: end.errors.map(({ code }) => new AnError({ code })), retryable: true }
    state = end.results!
    turn += 1
    if (collect !== undefined) collected.push(resolve(collect, { ...seen, state, turn }))
  }
}

function mapOf(args: Record<string, Json>, seen: Seen): Attempt {
  const given = givenWithin(seen)
  const items = resolve(args.items!, seen) as Json[]
  const ends = items.map((item, index) => endOf(args.body as unknown as Graph, { ...given, item, index }))
  const errors = ends.flatMap((end) => end.errors)
  // The map fails with the error of an item, but the error names the map as its node.
  if (errors.length > 0 && args.on_item_error !== 'collect')
    return { errors: errors.map(({ code }) => new AnError({ code })), retryable: true }
  return {
    output: ends.map((end) => (end.errors.length > 0 ? { error: new OneOf(end.errors) } : end.results!)),
  }
}

const takenInto = ({ edges }: Graph, id: string, seen: Seen): Edge[] =>
  edges.filter(({ from, to, when }) => {
    const source = seen.nodes[from.node]!
    if (to !== id || source.status === 'skipped' || source.status === 'unreached') return false
    return source.port === (from.port ?? 'out') && (!when || holds(when.$cel, seen))
  })

/** Checks whether the node ended the execution or was never reached. */
const isOpen = ({ status, port }: NodeEnd): boolean => status === 'unreached' || port === ''

function nodeEnd(node: Node, graph: Graph, seen: Seen): NodeEnd & { errors: AnError[] } {
  const incoming = graph.edges.filter(({ to }) => to === node.id)
  const taken = takenInto(graph, node.id, seen)
  const open = incoming.filter(({ from }) => isOpen(seen.nodes[from.node]!))
  const unrun = { output: null, port: 'out', attempt: 0, errors: [] }
  const goesOn = taken.length > 0 && (open.length === 0 || node.join === 'any')
  if (incoming.length > 0 && !goesOn) return { ...unrun, status: open.length > 0 ? 'unreached' : 'skipped' }
  for (let attempt = 1; ; attempt += 1) {
    const came = attemptOf(node, attempt, seen, graph)
    if ('output' in came) return { status: 'succeeded', port: 'out', ...came, attempt, errors: [] }
    if (came.retryable && attempt < (node.retry?.max_attempts ?? 1)) continue
    const errors = came.errors.map(({ code }) => new AnError({ code, node_id: node.id, attempt }))
    const isRouted = graph.edges.some(({ from }) => from.node === node.id && from.port === 'error')
    if (node.on_error === 'route' && isRouted)
      return { status: 'failed', output: new OneOf(errors), port: 'error', attempt, errors: [] }
    if (node.on_error === 'continue') return { status: 'failed', output: null, port: 'out', attempt, errors: [] }
    // The other `finally` nodes still run.
    return { status: 'failed', output: null, port: node.finally ? 'out' : '', attempt, errors }
  }
}

export function endOf(graph: Graph, given: Given): GraphEnd {
  const seen: Seen = { ...given, nodes: {} }
  const run = (nodes: Node[]): AnError[] =>
    nodes.flatMap((node) => {
      const { errors, ...end } = nodeEnd(node, graph, seen)
      seen.nodes[node.id] = end
      return errors
    })
  const errors = run(graph.nodes.filter((node) => !node.finally))
  const results = errors.length === 0 ? resolve(graph.output ?? null, seen) : null
  // `finally` nodes run however the execution ends, and can turn a success into a failure.
  seen.status = errors.length === 0 ? 'succeeded' : 'failed'
  const last = run(graph.nodes.filter((node) => node.finally))
  if (errors.length > 0) return { nodes: seen.nodes, errors }
  return last.length > 0 ? { nodes: seen.nodes, errors: last } : { nodes: seen.nodes, errors, results }
}
