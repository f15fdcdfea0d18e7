import type { Edge, Graph, JsonObject, Node } from '#model/definition'

// Random graphs of every kind of node, with maps in maps and workflows in workflows. The same seed returns the same
// graph.

/** Returns a generator of numbers in [0, 1) (mulberry32). */
export const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

export type Options = {
  next: () => number
  /** Stores the definition of a sub-workflow and returns its id. */
  define(graph: Graph): string
  /**
   * Whether the test controls the time. In real time a busy machine may take longer than a short timeout, so there
   * every node with a timeout is certain to miss it.
   */
  virtualTime: boolean
  /** Whether the graphs have nodes that must happen at most once. */
  withOnce: boolean
  /** Whether the graphs have loops and `finally` nodes. */
  withLoops: boolean
}

/**
 * The position of a graph: `depth` bodies and workflows deep, in a map, in a loop, with the visible nodes of the
 * enclosing graph in `outer`. `isWhole`: the graph is a workflow, not a body.
 */
type Place = { depth: number; inMap: boolean; inLoop: boolean; isWhole: boolean; outer: readonly string[] }

const MAX_DEPTH = 2
const MAX_NODES = 6
const SHORT_S = 0.2
const FOREVER_S = 600

const KINDS = [
  'work',
  'flaky',
  'late',
  'set',
  'branch',
  'wait',
  'missed',
  'approval',
  'question',
  'event',
  'fail',
] as const
const DEEP_KINDS = ['map', 'map', 'child', 'own way'] as const
const LOOPS = ['loop', 'loop'] as const

const TOP: Place = { depth: 0, inMap: false, inLoop: false, isWhole: true, outer: [] }

export function makeGraph(options: Options, place: Place = TOP): Graph {
  const { next } = options
  const below = (limit: number): number => Math.floor(next() * limit)
  const chance = (share: number): boolean => next() < share
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!

  const nodes: Node[] = []
  const edges: Edge[] = []

  const conditions = (source: string): string[] => [
    'input.x > 5.0',
    `nodes.${source}.output != null`,
    ...(place.inMap ? ['index == 1'] : []),
    ...(place.inLoop ? ['turn == 1'] : []),
  ]
  const portsOf = ({ type, on_error }: Node): (string | undefined)[] => {
    if (type === 'branch') return ['yes', 'default']
    const normal = type === 'approval' ? ['approved', 'rejected'] : [undefined]
    return on_error === 'route' ? [...normal, 'error'] : normal
  }
  const leadTo = (id: string): void => {
    for (const source of nodes) {
      if (!chance(0.35)) continue
      const port = pick(portsOf(source))
      const when = chance(0.2) ? { when: { $cel: pick(conditions(source.id)) } } : {}
      edges.push({ from: { node: source.id, ...(port !== undefined && { port }) }, to: id, ...when })
    }
  }

  const seldom = <T>(share: number, value: T): T | object => (chance(share) ? value : {})
  /** Options for nodes that may fail. */
  const handling = (): Partial<Node> => ({
    ...seldom(0.5, { on_error: pick(['continue', 'route'] as const) }),
    ...seldom(0.4, { retry: { max_attempts: 1 + below(3), backoff_s: below(2) * 0.05 } }),
  })
  const handlingOfGate = (): Partial<Node> => ({ ...handling(), ...seldom(0.5, { on_error: 'route' as const }) })
  const missed = { timeout_s: SHORT_S }

  for (let at = 0, count = 1 + below(MAX_NODES); at < count; at += 1) {
    const id = `n${place.depth}_${at}`
    leadTo(id)
    const isDeep = place.depth < MAX_DEPTH
    const kind = pick([...KINDS, ...(isDeep ? DEEP_KINDS : []), ...(isDeep && options.withLoops ? LOOPS : [])])
    const join: Partial<Node> = kind !== 'branch' && chance(0.25) ? { join: 'any' } : {}
    // A node with `any` may run before the other nodes, so it does not read their outputs.
    const visible = join.join ? [] : edges.filter(({ to }) => to === id).map(({ from }) => from.node)
    const seen = [...visible, ...place.outer].map((name) => `nodes.${name}.output`)
    const ofBodies = [...(place.inMap ? ['item', 'index'] : []), ...(place.inLoop ? ['state', 'turn'] : [])]
    const value = (): JsonObject => ({ $ref: pick(['input.x', ...ofBodies, ...seen]) })
    const depth = place.depth + 1
    const workflowWithin = (): Graph => makeGraph(options, { ...TOP, depth })
    const bodyWithin = (more: Partial<Place>): Graph =>
      makeGraph(options, { ...place, depth, isWhole: false, outer: [...visible, ...place.outer], ...more })

    const made = (): Omit<Node, 'id'> => {
      switch (kind) {
        case 'work':
          return { type: 'work', args: { value: value() } }
        case 'flaky':
          return {
            type: options.withOnce && chance(0.2) ? 'once' : 'work',
            args: { value: value(), fails: 1 + below(3), ...seldom(0.2, { final: true }) },
            ...handling(),
          }
        case 'late': {
          const late = options.virtualTime ? 1 + below(3) : FOREVER_S
          return { type: 'work', args: { value: value(), late }, ...handling(), ...missed }
        }
        case 'set':
          return { type: 'set', args: { values: { one: value(), two: [value()] } } }
        case 'branch':
          return { type: 'branch', args: { cases: [{ port: 'yes', when: { $cel: 'input.x > 5.0' } }] } }
        case 'wait':
          return { type: 'wait', args: { for_s: pick([0, 0.05, 0.6]) }, ...seldom(0.3, { timeout_s: FOREVER_S }) }
        case 'missed':
          return { type: 'wait', args: { for_s: FOREVER_S }, ...handling(), ...missed }
        case 'approval': {
          const title = pick(['yes', 'yes', 'no', 'never'])
          const rest =
            title === 'never' ? { ...handlingOfGate(), ...missed } : seldom(0.5, { on_error: 'route' as const })
          const { on_error, ...gate } = { on_error: undefined, ...rest } as Partial<Node>
          return { type: 'approval', args: { title }, ...gate, ...(on_error === 'route' && { on_error }) }
        }
        case 'question': {
          const question = pick(['asked', 'never'])
          return {
            type: 'clarification',
            args: { question },
            ...(question === 'never' && { ...handling(), ...missed }),
          }
        }
        case 'event': {
          const key = pick(['sent', 'never'])
          return { type: 'wait.event', args: { key }, ...(key === 'never' && { ...handling(), ...missed }) }
        }
        case 'fail':
          return {
            type: 'fail',
            args: { code: 'no', message: 'no' },
            ...seldom(0.7, { on_error: pick(['continue', 'route'] as const) }),
          }
        case 'child':
          return {
            type: 'subworkflow',
            args: { workflow_id: options.define(workflowWithin()), input: { x: below(11) } },
            ...handling(),
          }
        case 'own way': {
          const nodes = [{ id: 'w', type: 'wait', args: { for_s: FOREVER_S } }]
          const workflow_id = options.define({ nodes, edges: [] })
          return { type: 'subworkflow', args: { workflow_id, input: {}, wait: false } }
        }
        case 'map': {
          const items = Array.from({ length: below(4) }, (_, index) => index * 10)
          const args = { items, body: bodyWithin({ inMap: true }) as never, concurrency: 1 + below(3) }
          return { type: 'map', args: { ...args, ...seldom(0.4, { on_item_error: 'collect' }) }, ...handling() }
        }
        case 'loop': {
          const args = {
            body: bodyWithin({ inLoop: true }) as never,
            until: { $cel: `turn == ${1 + below(3)}` },
            max_iterations: pick([2, 3, 3]),
            ...seldom(0.5, { state: value() }),
            ...seldom(0.5, { collect: { $ref: 'turn' } }),
          }
          return { type: 'loop', args, ...handling() }
        }
      }
    }
    nodes.push({ id, ...made(), ...join })
  }
  const output = Object.fromEntries(nodes.map(({ id }) => [id, { $ref: `nodes.${id}.output` }]))
  if (!options.withLoops || !place.isWhole || !chance(0.4)) return { nodes, edges, output }
  // If an execution fails, the outputs of other nodes are not certain. So `finally` nodes read only the input and the
  // status of the execution.
  const last: Node[] = []
  for (let at = 0, count = 1 + below(3); at < count; at += 1) {
    const id = `f${place.depth}_${at}`
    for (const source of last)
      if (chance(0.4))
        edges.push({
          from: { node: source.id, ...(source.on_error === 'route' && chance(0.5) && { port: 'error' }) },
          to: id,
        })
    const value = { $ref: pick(['input.x', 'execution.status']) }
    const args = { value, ...seldom(0.4, { fails: 1 + below(3) }) }
    last.push({ id, type: 'work', args, finally: true, ...handling() })
  }
  return { nodes: [...nodes, ...last], edges, output }
}
