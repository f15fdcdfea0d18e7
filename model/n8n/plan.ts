import { type Cycle, cyclesIn } from './cycles.ts'
import { asRequest } from './tool-request.ts'
import type { N8nEdge, N8nNode, N8nWorkflow } from './types.ts'

// Determines which nodes run, which nodes are attached to an agent, which nodes are the body of a loop, and the order
// of conversion.

export type Plan = {
  nodes: ReadonlyMap<string, N8nNode>
  triggers: string[]
  /**
   * Returns the nodes of the workflow itself or of a loop in topological order. A cycle counts as its entry node,
   * unless it is the open cycle.
   */
  order(region: ReadonlySet<string>, open?: string): string[]
  into(name: string): N8nEdge[]
  from(name: string): N8nEdge[]
  top: ReadonlySet<string>
  bodies: ReadonlyMap<string, ReadonlySet<string>>
  cycles: ReadonlyMap<string, Cycle>
  /** Connections that lead back, or out of a loop, and have no counterpart. */
  dropped: N8nEdge[]
  unreachable: string[]
}

const TRIGGER = /(?:trigger|\.webhook|\.cron|\.interval|\.start|\.emailReadImap)$/i
export const isTrigger = ({ type }: N8nNode): boolean => TRIGGER.test(type)
export const isNote = ({ type }: N8nNode): boolean => type.endsWith('.stickyNote')
const isBatches = (node: N8nNode | undefined): boolean => node?.type.endsWith('.splitInBatches') === true

/** Returns the port that leads into the body of a loop; the other port is for the end of the loop. */
export const bodyPort = ({ version }: N8nNode): number => (version >= 3 ? 1 : 0)

export function planOf(workflow: N8nWorkflow): Plan {
  const nodes = new Map(workflow.nodes.filter((node) => !isNote(node)).map((node) => [node.name, node]))
  const { edges: all, tools } = withTools(workflow, nodes)
  for (const name of tools) nodes.set(name, asNode(nodes.get(name)!))
  const main = all.filter(({ kind, from, to }) => kind === 'main' && nodes.has(from) && nodes.has(to))
  const below = all.filter(({ kind, from, to }) => kind !== 'main' && nodes.has(from) && nodes.has(to))
  const out = grouped(main, ({ from }) => from)
  const subNodes = new Set(below.map(({ from }) => from))
  const real = [...nodes.values()].filter((node) => !subNodes.has(node.name) || (out.get(node.name)?.length ?? 0) > 0)
  const triggers = triggersOf(real, main)
  const reachable = reach(triggers, out, () => true)
  const bodies = bodiesOf(reachable, nodes, out)
  const dropped: N8nEdge[] = []
  const inside = new Set([...bodies.values()].flatMap((body) => [...body]))
  const used = main.filter(({ from, to }) => reachable.has(from) && reachable.has(to))
  const kept = used.filter((edge) => {
    // Items that leave a loop over items are collected, unless they also leave the loop around it.
    const left = [...bodies].filter(([loop, body]) => body.has(edge.from) && !body.has(edge.to) && edge.to !== loop)
    const leaves = left.length > 1
    const enters = [...bodies].some(
      ([loop, body]) =>
        body.has(edge.to) && !body.has(edge.from) && !(edge.from === loop && edge.port === bodyPort(nodes.get(loop)!)),
    )
    if (leaves || enters) dropped.push(edge)
    return !leaves && !enters
  })
  const isBack = (edge: N8nEdge): boolean => bodies.get(edge.to)?.has(edge.from) === true
  const onward = kept.filter((edge) => !isBack(edge))
  const cycles = new Map<string, Cycle>()
  const top = new Set([...reachable].filter((name) => !inside.has(name)))
  for (const region of [top, ...bodies.values()]) {
    const held = new Set([...bodies].flatMap(([loop, body]) => (region.has(loop) ? [...body] : [])))
    const names = new Set([...region].filter((name) => !held.has(name)))
    const roots = new Set(region === top ? triggers : startsOf(region, nodes, bodies, kept))
    for (const [name, cycle] of cyclesIn(names, onward, roots)) cycles.set(name, cycle)
  }
  const again = new Set([...cycles.values()].flatMap((cycle) => cycle.again))
  const backward = backwardEdgesIn(
    reachable,
    onward.filter((edge) => !again.has(edge)),
  )
  dropped.push(...backward)
  const edges = kept.filter((edge) => !backward.has(edge) && !again.has(edge))
  const [into, from] = [grouped(edges, ({ to }) => to), grouped(edges, (edge) => edge.from)]
  return {
    nodes,
    triggers,
    top,
    bodies,
    cycles,
    dropped,
    into: (name) => into.get(name) ?? [],
    from: (name) => from.get(name) ?? [],
    order: (region, open) =>
      ordered(
        region,
        edges.filter((edge) => !isBack(edge)),
        bodies,
        new Map([...cycles].filter(([header]) => header !== open && region.has(header))),
      ),
    unreachable: real.filter(({ name }) => !reachable.has(name)).map(({ name }) => name),
  }
}

export const isToolServer = ({ type }: N8nNode): boolean => type.endsWith('.mcpTrigger')

/** Places each tool of a tool server after the server, at its own port. */
function withTools(
  { edges }: N8nWorkflow,
  nodes: ReadonlyMap<string, N8nNode>,
): { edges: N8nEdge[]; tools: ReadonlySet<string> } {
  const ports = new Map<string, number>()
  const tools = new Set<string>()
  const turned = edges.map((edge): N8nEdge => {
    const server = nodes.get(edge.to)
    if (edge.kind !== 'ai_tool' || !server || !isToolServer(server) || !nodes.has(edge.from)) return edge
    const port = ports.get(edge.to) ?? 0
    ports.set(edge.to, port + 1)
    tools.add(edge.from)
    return { from: edge.to, port, to: edge.from, slot: 0, kind: 'main' }
  })
  return { edges: turned, tools }
}

/** Returns a tool as the node that it is based on. */
function asNode(node: N8nNode): N8nNode {
  const [prefix = '', kind = ''] = [node.type.slice(0, node.type.lastIndexOf('.')), node.type.split('.').at(-1)]
  const types: Record<string, string> = {
    toolWorkflow: 'n8n-nodes-base.executeWorkflow',
    toolCode: 'n8n-nodes-base.code',
    toolCalculator: 'n8n-nodes-base.noOp',
    toolThink: 'n8n-nodes-base.noOp',
    agentTool: '@n8n/n8n-nodes-langchain.agent',
  }
  const plain = kind === 'toolHttpRequest' ? asRequest(node) : node
  const type = types[kind] ?? (plain === node ? `${prefix}.${kind.replace(/Tool$/, '')}` : plain.type)
  return { ...plain, type, isTool: true }
}

/** Returns the first nodes of the body of a loop. */
const startsOf = (
  body: ReadonlySet<string>,
  nodes: ReadonlyMap<string, N8nNode>,
  bodies: ReadonlyMap<string, ReadonlySet<string>>,
  edges: readonly N8nEdge[],
): string[] => {
  const loop = [...bodies].find(([, held]) => held === body)?.[0]
  return loop === undefined
    ? []
    : edges.filter(({ from, port }) => from === loop && port === bodyPort(nodes.get(loop)!)).map(({ to }) => to)
}

function grouped(edges: Iterable<N8nEdge>, key: (edge: N8nEdge) => string): Map<string, N8nEdge[]> {
  const groups = new Map<string, N8nEdge[]>()
  for (const edge of edges) {
    const group = groups.get(key(edge))
    if (group) group.push(edge)
    else groups.set(key(edge), [edge])
  }
  return groups
}

/**
 * Returns the triggers. A manual start beside other triggers is only for testing; without any trigger, the nodes
 * without incoming connections start.
 */
function triggersOf(real: N8nNode[], main: N8nEdge[]): string[] {
  const starting = real.filter((node) => isTrigger(node) && !node.disabled)
  const leading = starting.filter(({ name }) => main.some(({ from }) => from === name))
  const serious = leading.filter(({ type }) => !/\.(manualTrigger|start)$/.test(type))
  const out = grouped(main, ({ from }) => from)
  const covered = reach(
    serious.map(({ name }) => name),
    out,
    () => true,
  )
  const chosen = leading.filter(
    (node) => serious.includes(node) || !(out.get(node.name) ?? []).every(({ to }) => covered.has(to)),
  )
  if (chosen.length > 0) return chosen.map(({ name }) => name)
  if (starting.length > 0) return [starting[0]!.name]
  const targets = new Set(main.map(({ to }) => to))
  const roots = real.filter(({ name }) => !targets.has(name)).map(({ name }) => name)
  return roots.length > 0 ? roots : real.slice(0, 1).map(({ name }) => name)
}

function reach(
  from: readonly string[],
  out: ReadonlyMap<string, N8nEdge[]>,
  follows: (edge: N8nEdge) => boolean,
): Set<string> {
  const seen = new Set(from)
  const open = [...from]
  while (open.length > 0)
    for (const edge of out.get(open.pop()!) ?? [])
      if (!seen.has(edge.to) && follows(edge)) {
        seen.add(edge.to)
        open.push(edge.to)
      }
  return seen
}

/**
 * Returns the bodies of loops over items: all nodes that the body port leads to, except nodes that are also reached
 * another way.
 */
function bodiesOf(
  reachable: ReadonlySet<string>,
  nodes: ReadonlyMap<string, N8nNode>,
  out: ReadonlyMap<string, N8nEdge[]>,
): Map<string, ReadonlySet<string>> {
  const bodies = new Map<string, ReadonlySet<string>>()
  for (const name of reachable) {
    const node = nodes.get(name)!
    if (!isBatches(node) || node.disabled) continue
    const starts = (port: (at: number) => boolean): string[] =>
      (out.get(name) ?? []).filter((edge) => port(edge.port) && edge.to !== name).map(({ to }) => to)
    const body = reach(
      starts((port) => port === bodyPort(node)),
      out,
      ({ to }) => to !== name,
    )
    const after = reach(
      starts((port) => port !== bodyPort(node)),
      out,
      ({ to }) => to !== name,
    )
    const shared = [...body].filter((one) => after.has(one))
    for (const one of shared) body.delete(one)
    body.delete(name)
    if (body.size > 0) bodies.set(name, body)
  }
  // Nested loops: the body of an inner loop belongs to the outer loop, never the other way round.
  for (const [name, body] of bodies)
    for (const [other, outer] of bodies)
      if (other !== name && body.has(other) && outer.has(name))
        bodies.set(other, new Set([...outer].filter((one) => one !== name && !body.has(one))))
  for (const [name, body] of bodies) if (body.size === 0) bodies.delete(name)
  return bodies
}

/** Returns the connections that close a cycle, by a depth-first search without recursion. */
function backwardEdgesIn(names: ReadonlySet<string>, edges: N8nEdge[]): Set<N8nEdge> {
  const out = grouped(edges, ({ from }) => from)
  const closing = new Set<N8nEdge>()
  const state = new Map<string, 'open' | 'done'>()
  for (const start of names) {
    if (state.has(start)) continue
    const stack: { name: string; next: number }[] = [{ name: start, next: 0 }]
    state.set(start, 'open')
    while (stack.length > 0) {
      const top = stack.at(-1)!
      const edge = (out.get(top.name) ?? [])[top.next]
      top.next += 1
      if (!edge) {
        state.set(top.name, 'done')
        stack.pop()
      } else if (state.get(edge.to) === 'open') closing.add(edge)
      else if (!state.has(edge.to)) {
        state.set(edge.to, 'open')
        stack.push({ name: edge.to, next: 0 })
      }
    }
  }
  return closing
}

/** Sorts nodes topologically; nodes in the body of a loop count as the loop. */
function ordered(
  region: ReadonlySet<string>,
  edges: N8nEdge[],
  bodies: ReadonlyMap<string, ReadonlySet<string>>,
  cycles: ReadonlyMap<string, Cycle>,
): string[] {
  const loopOf = (name: string): string => {
    if (region.has(name) && ![...bodies].some(([loop, body]) => region.has(loop) && body.has(name))) return name
    return [...bodies].find(([loop, body]) => region.has(loop) && body.has(name))?.[0] ?? name
  }
  // Nested cycles: the outermost cycle counts.
  const bySize = [...cycles].sort(([, a], [, b]) => b.members.size - a.members.size)
  const holder = (name: string): string => {
    const node = loopOf(name)
    return bySize.find(([, { members }]) => members.has(node))?.[0] ?? node
  }
  const members = [...region].filter((name) => holder(name) === name)
  const waiting = new Map(members.map((name) => [name, new Set<string>()]))
  for (const edge of edges) {
    const [from, to] = [holder(edge.from), holder(edge.to)]
    if (from !== to && waiting.has(from)) waiting.get(to)?.add(from)
  }
  const result: string[] = []
  while (waiting.size > 0) {
    const ready = [...waiting]
      .filter(([, before]) => [...before].every((name) => !waiting.has(name)))
      .map(([name]) => name)
    const next = ready.length > 0 ? ready : [[...waiting.keys()][0]!]
    for (const name of next) {
      waiting.delete(name)
      result.push(name)
    }
  }
  return result
}
