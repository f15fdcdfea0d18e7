import type { Json, JsonObject } from '../definition.ts'
import type { Cycle } from './cycles.ts'
import { type Exit, type Flow, flattened, ofOne, orEmpty, outputOf } from './flow.ts'
import { celOut, type Out, pathOut } from './out.ts'
import { bodyPort, type Plan } from './plan.ts'
import { connect, type Sink } from './sink.ts'
import type { Step } from './step.ts'
import type { N8nEdge } from './types.ts'

// Loops over items become a map, other cycles a loop. Items that leave them early are collected and continue after the
// map or loop ends.

export type Known = { exits: Exit[]; flow: Flow; before: ReadonlySet<string> }

/** The parts of the workflow's conversion that the conversion of a loop uses. */
export type LoopHost = {
  plan: Plan
  known: Map<string, Known>
  /**
   * The outputs of the nodes of a cycle in an earlier iteration, for nodes that have not run in the current iteration.
   */
  earlier: Map<string, Flow>
  before: ReadonlySet<string>
  uniqueId(name: string): string
  isRead(name: string, except?: ReadonlySet<string>): boolean
  region(
    names: ReadonlySet<string>,
    sink: Sink,
    before: ReadonlySet<string>,
    entries?: ReadonlyMap<string, Exit[]>,
    open?: string,
  ): void
}

const TURNS = 1_000

/** Adds a node that stores the items of an exit: its output shows whether the exit was taken. */
function marked(host: LoopHost, sink: Sink, exit: Exit, name: string): string {
  const id = host.uniqueId(name)
  sink.nodes.push({ id, type: 'set', args: { values: { items: { $cel: orEmpty(exit) } } } })
  connect(sink, [exit], id)
  return id
}
const itemsOf = (id: string): string => `nodes.${id}.output?.items.orValue([])`

type Leaving = { from: string; port: number; key: string; marker: string; isOne: boolean }

/** Returns the exits of inner nodes that lead out of `members`, each with a node that stores its items. */
function leavingOf(
  host: LoopHost,
  sink: Sink,
  members: ReadonlySet<string>,
  skip: (edge: N8nEdge) => boolean,
): Leaving[] {
  const found: Leaving[] = []
  for (const name of members)
    for (const edge of host.plan.from(name)) {
      const { port, to } = edge
      const exit = host.known.get(name)?.exits[port]
      if (members.has(to) || skip(edge) || !exit) continue
      if (found.some((one) => one.from === name && one.port === port)) continue
      const key = `out_${found.length + 1}`
      found.push({
        from: name,
        port,
        key,
        marker: marked(host, sink, exit, `${exit.node}_out`),
        isOne: Boolean(exit.one),
      })
    }
  return found
}

/** Returns the inner nodes that another node reads, with their results. */
function readInside(
  host: LoopHost,
  members: ReadonlySet<string>,
  except?: ReadonlySet<string>,
): { name: string; key: string; known: Known }[] {
  return [...members]
    .filter((name) => host.isRead(name, except))
    .flatMap((name, at) => {
      const known = host.known.get(name)
      return known?.exits[0] ? [{ name, key: `seen_${at + 1}`, known }] : []
    })
}

/** Makes the results of inner nodes available to the nodes after the cycle or loop. */
function publish(
  host: LoopHost,
  step: Step,
  members: ReadonlySet<string>,
  { leaving, read }: { leaving: Leaving[]; read: { name: string; flow: Flow }[] },
  listOf: (key: string) => Out,
  isSingle: boolean,
): void {
  const before = new Set([...host.before, ...read.map(({ name }) => name)])
  const inside = new Map(read.map(({ name, flow }) => [name, flow]))
  for (const name of members) {
    const exits: Exit[] = []
    for (const one of leaving.filter(({ from }) => from === name)) {
      const list = listOf(one.key)
      const only = isSingle && one.isOne && list.path ? { one: pathOut([...list.path, 0]) } : {}
      exits[one.port] = { ...step.exit({ list, ...only }), when: `size(${list.cel}) > 0` }
    }
    const flow = inside.get(name) ?? exits.find((exit) => exit !== undefined)
    if (flow) host.known.set(name, { exits, flow, before })
    else host.known.delete(name)
  }
}

/** Converts a cycle: it repeats while items flow back to its entry node. */
export function convertCycle(step: Step, { members, again }: Cycle, host: LoopHost): void {
  const { input, node } = step
  const sink: Sink = { nodes: [], edges: [] }
  const current = host.uniqueId(`${step.id}_turn`)
  const isSingle = input.one !== undefined
  const one = 'cel.bind(v, state.items, size(v) == 1 ? v[0] : [][1])'
  sink.nodes.push({
    id: current,
    type: 'set',
    name: node.name.slice(0, 200),
    args: { values: isSingle ? { item: { $cel: one } } : { items: { $ref: 'state.items' } } },
  })
  const here = pathOut(['nodes', current, 'output', isSingle ? 'item' : 'items'])
  const entry: Exit = {
    ...(isSingle ? ofOne(here) : { list: { ...here, type: 'list' as const } }),
    same: new Set(),
    aligned: new Map(),
    node: current,
    chosen: new Map(),
  }
  const keys = new Map([...members].filter((name) => host.isRead(name)).map((name, at) => [name, `seen_${at + 1}`]))
  for (const [name, key] of keys) {
    const list = pathOut(['state', key], 'list')
    host.earlier.set(name, {
      list,
      ...(isSingle && { one: pathOut(['state', key, 0]) }),
      same: new Set(),
      aligned: new Map(),
    })
  }
  const outside = host.before
  host.region(members, sink, outside, new Map([[node.name, [entry]]]), node.name)
  host.before = outside
  for (const name of keys.keys()) host.earlier.delete(name)
  const returning = again.flatMap(({ from, port }) => {
    const exit = host.known.get(from)?.exits[port]
    return exit ? [marked(host, sink, exit, `${exit.node}_again`)] : []
  })
  const leaving = leavingOf(host, sink, members, () => false)
  const output: JsonObject = { items: { $cel: returning.map(itemsOf).join(' + ') || '[]' } }
  const state: JsonObject = { items: { $cel: orEmpty(input) } }
  for (const { key, marker } of leaving) {
    output[key] = { $cel: `state.${key} + ${itemsOf(marker)}` }
    state[key] = []
  }
  const read = readInside(host, members).map(({ name, known }) => {
    const key = keys.get(name)!
    const ran = outputOf(known.exits[0]!.node).cel
    output[key] = { $cel: `(${ran} == null ? state.${key} : ${orEmpty(known.flow)})` }
    const list = pathOut(['nodes', step.id, 'output', 'state', key], 'list')
    const only = isSingle && known.flow.one ? { one: pathOut([...list.path!, 0]) } : {}
    return { name, flow: { list, ...only, same: new Set<string>(), aligned: new Map() } }
  })
  for (const key of keys.values()) {
    state[key] = []
    output[key] ??= { $ref: `state.${key}` }
  }
  step.add(
    'loop',
    {
      body: { nodes: sink.nodes, edges: sink.edges, output } as unknown as JsonObject,
      state,
      until: { $cel: 'size(state.items) == 0' },
      max_iterations: TURNS,
    },
    { name: `Repeat ${node.name}` },
  )
  publish(
    host,
    step,
    members,
    { leaving, read },
    (key) => pathOut(['nodes', step.id, 'output', 'state', key], 'list'),
    isSingle,
  )
}

/** Converts a loop over items to a map with one item, or one batch, at a time. */
export function convertLoop(step: Step, host: LoopHost): Exit[] {
  const { node, input } = step
  const size = Number(node.parameters.batchSize ?? 1) || 1
  const body = host.plan.bodies.get(node.name)!
  const sink: Sink = { nodes: [], edges: [] }
  const entry = entryOf(step, host, sink, size)
  const into = new Map<string, Exit[]>()
  for (const edge of host.plan.from(node.name))
    if (edge.port === bodyPort(node) && body.has(edge.to)) into.set(edge.to, [entry])
  const outside = host.before
  host.known.set(node.name, { exits: [], flow: entry, before: outside })
  host.region(body, sink, new Set([...outside, node.name]), into)
  host.before = outside
  const returning = host.plan
    .into(node.name)
    .flatMap(({ from, port }) => (body.has(from) ? (host.known.get(from)?.exits[port] ?? []) : []))
  const one = returning.length === 1 ? returning[0]!.one : undefined
  const value =
    returning.length === 0
      ? []
      : one
        ? step.guarded(one)
        : step.guarded(celOut(returning.map(orEmpty).join(' + ') || '[]', 'list'))
  const leaving = leavingOf(host, sink, body, ({ to }) => to === node.name)
  const read = readInside(host, body, body)
  const isPlain = leaving.length === 0 && read.length === 0
  const output: Json = isPlain
    ? value
    : {
        value,
        ...Object.fromEntries(leaving.map(({ key, marker }) => [key, { $cel: itemsOf(marker) }])),
        ...Object.fromEntries(read.map(({ key, known }) => [key, { $cel: orEmpty(known.flow) }])),
      }
  const items =
    size > 1
      ? celOut(
          `cel.bind(v, ${input.list.cel}, lists.range(math.ceil(size(v) / ${size})).map(n, v.slice(n * ${size}, n * ${size} + ${size})))`,
          'list',
        )
      : input.list
  step.add('map', {
    items: step.guarded(items),
    concurrency: 1,
    body: { nodes: sink.nodes, edges: sink.edges, output } as unknown as JsonObject,
  })
  const whole = outputOf(step.id)
  const turns = `(${whole.cel} == null ? [] : ${whole.cel})`
  publish(
    host,
    step,
    body,
    {
      leaving,
      read: read.map(({ name, key, known }) => {
        const list = celOut(`${turns}.last().optMap(x, x.${key}).orValue([])`, 'list')
        const only = known.flow.one ? { one: celOut(`${list.cel}[?0].orValue(null)`) } : {}
        return { name, flow: { list, ...only, same: new Set<string>(), aligned: new Map() } }
      }),
    },
    (key) => celOut(`${turns}.map(x, x.${key}).flatten()`, 'list'),
    false,
  )
  const values = isPlain ? { ...whole, type: 'list' as const } : celOut(`${turns}.map(x, x.value)`, 'list')
  const done = step.exit(one && size === 1 ? { list: values, aligned: input.aligned } : { list: flattened(values) })
  return bodyPort(node) === 1 ? [done] : [done, done]
}

function entryOf({ node, input, id }: Step, host: LoopHost, sink: Sink, size: number): Exit {
  const current = host.uniqueId(`${id}_item`)
  sink.nodes.push({
    id: current,
    type: 'set',
    name: node.name.slice(0, 200),
    args: { values: { item: { $ref: 'item' }, index: { $ref: 'index' } } },
  })
  const here = pathOut(['nodes', current, 'output', 'item'])
  const position = pathOut(['nodes', current, 'output', 'index']).cel
  const aligned = new Map(size > 1 ? [] : [...input.aligned].map(([name, at]) => [name, () => at(position)] as const))
  for (const name of size > 1 ? [] : input.same) if (!aligned.has(name)) aligned.set(name, () => position)
  return {
    ...(size > 1 ? { list: { ...here, type: 'list' as const } } : ofOne(here)),
    same: new Set([...(size > 1 ? [] : input.same), node.name]),
    aligned,
    node: current,
    chosen: new Map(),
  }
}
