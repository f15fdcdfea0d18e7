import { bodyOf } from '#model/body'
import type { Definition, Edge, Graph, Json, JsonObject, Node } from '#model/definition'
import { withoutDeferred } from '#model/expressions'
import type { NodeDescriptor } from '#model/node'
import { type Effects, isActing, modeOf, nodeAccessOf } from '#model/node-access'
import { type FromRecord, TRIAL_ANSWER } from '../nodes/trial-answer.ts'
import { sampleOutput } from './sample-output.ts'

// The plan of a trial: a definition in which every node that must not act is replaced by its answer. The definition
// is stored with the execution, so a trial continues after a crash like any execution, with the same answers.

/**
 * `given`: the caller pinned it. `recorded`: the last stored execution returned it. `schema`: made up from the output
 * schema.
 */
export type AnswerSource = 'given' | 'recorded' | 'schema'

/** `acts`: the node has an effect outside Heddle, or involves people. Inside a map or loop, the id is `map[].node`. */
export type PlannedNode = {
  node_id: string
  type: string
  mode: 'live' | 'pinned' | 'mocked'
  source: AnswerSource | null
  acts: boolean
}

/** The previous output of a node, and the port that it left by. */
export type Recorded = { output: Json; port?: string | undefined }

export type TrialRequest = {
  definition: Definition
  effects: Effects
  /** Language models are still called, because a suite measures them. */
  liveModels?: boolean
  /** Set for a suite run: each case is answered from the record of the suite. */
  record?: FromRecord
  pinned: ReadonlyMap<string, Json>
  recorded: ReadonlyMap<string, Recorded>
  descriptorOf(type: string): NodeDescriptor | undefined
  /** Only this node runs, with the answers of the nodes before it. */
  only?: string | undefined
  /** Only this node and the nodes that lead to it run. */
  until?: string | undefined
}

export type TrialPlan = {
  definition: Definition
  nodes: PlannedNode[]
  /** Nodes that have no answer with `effects: pinned`. */
  unanswered: string[]
}

const PORTS: Readonly<Record<string, string>> = { approval: 'approved' }

const answered = (
  node: Node,
  mode: 'pinned' | 'mocked',
  { output, port = PORTS[node.type] }: Recorded,
  record?: FromRecord,
): Node => {
  const { id, name, on_error, join, finally: isLast } = node
  return {
    id,
    type: TRIAL_ANSWER,
    ...(name !== undefined && { name }),
    ...(on_error !== undefined && { on_error }),
    ...(join !== undefined && { join }),
    ...(isLast !== undefined && { finally: isLast }),
    args: {
      of: node.type,
      answer: JSON.stringify(output),
      ...(port !== undefined && { port }),
      // The arguments are resolved although nothing is sent, so that the trial finds failing expressions.
      ...(mode === 'mocked' && { would: withoutDeferred(node) }),
      ...(record !== undefined && { record }),
    },
  }
}

/** Returns all nodes from which `id` can be reached. */
export const upstream = (graph: Graph, id: string): Set<string> => {
  const seen = new Set<string>()
  const next = [id]
  for (let at = next.pop(); at !== undefined; at = next.pop())
    for (const { from, to } of graph.edges ?? [])
      if (to === at && from.node !== id && !seen.has(from.node)) {
        seen.add(from.node)
        next.push(from.node)
      }
  return seen
}

type Planned = { node: Node; entries: PlannedNode[] }

const planNode = (request: TrialRequest, node: Node, prefix: string, unanswered: string[]): Planned => {
  const { effects, pinned, recorded } = request
  const node_id = prefix + node.id
  const isTop = prefix === ''
  const isPast = isTop && request.only !== undefined && node.id !== request.only
  const entry = (mode: PlannedNode['mode'], source: AnswerSource | null): PlannedNode => ({
    node_id,
    type: node.type,
    mode,
    source,
    acts: isActing(node.type),
  })
  const given = isTop ? pinned.get(node.id) : undefined
  if (given !== undefined)
    return { node: answered(node, 'pinned', { output: given }), entries: [entry('pinned', 'given')] }
  const isAskedModel = request.liveModels === true && nodeAccessOf(node.type) === 'model'
  // A branch before the only running node would leave by one of its ports, but the others lead to that node too.
  const runs = isPast
    ? !isActing(node.type) && node.type !== 'branch'
    : isAskedModel || modeOf(node.type, effects, false) === 'live'
  if (runs) {
    const body = bodyOf(node)
    if (!body) return { node, entries: [entry('live', null)] }
    const within: TrialRequest = isPast && effects === 'live' ? { ...request, effects: 'mock' } : request
    const inner = planGraph(within, body as unknown as Graph, `${node_id}[].`, unanswered)
    return {
      node: { ...node, args: { ...node.args, body: inner.graph as unknown as Json } },
      entries: [entry('live', null), ...inner.entries],
    }
  }
  const before = isTop ? recorded.get(node.id) : undefined
  const how = isPast ? 'pinned' : 'mocked'
  if (before) return { node: answered(node, how, before), entries: [entry('mocked', 'recorded')] }
  if (effects === 'pinned') unanswered.push(node_id)
  const output = sampleOutput(node, request.descriptorOf(node.type))
  return { node: answered(node, how, { output }, request.record), entries: [entry('mocked', 'schema')] }
}

const planGraph = (
  request: TrialRequest,
  graph: Graph,
  prefix: string,
  unanswered: string[],
): { graph: Graph; entries: PlannedNode[] } => {
  const planned = graph.nodes.map((node) => planNode(request, node, prefix, unanswered))
  return {
    graph: { ...graph, nodes: planned.map(({ node }) => node) },
    entries: planned.flatMap(({ entries }) => entries),
  }
}

const resultOf = (id: string): JsonObject => ({ $ref: `nodes.${id}.output` })

/**
 * Makes every node upstream of `id` settle before the node `id` starts, regardless of the path that would have led to
 * it.
 */
const onlyOne = (definition: Definition, id: string): Definition => {
  const before = upstream(definition, id)
  const nodes = definition.nodes
    .filter((node) => node.id === id || before.has(node.id))
    .map((node) => ({ ...node, finally: false, join: 'all' as const }))
  const among = definition.edges.filter(({ from, to }) => before.has(from.node) && before.has(to))
  const edges = [
    ...among.map(({ from, to }): Edge => ({ from: { node: from.node }, to })),
    ...[...before].map((from): Edge => ({ from: { node: from }, to: id })),
  ]
  return { ...definition, nodes, edges, output: resultOf(id) }
}

const upTo = (definition: Definition, id: string): Definition => {
  const kept = upstream(definition, id).add(id)
  return {
    ...definition,
    nodes: definition.nodes.filter((node) => kept.has(node.id)),
    edges: definition.edges.filter(({ from, to }) => kept.has(from.node) && kept.has(to)),
    output: resultOf(id),
  }
}

/** Returns the part of the definition that runs. */
const partOf = ({ definition, only, until }: TrialRequest): Definition => {
  if (only !== undefined) return onlyOne(definition, only)
  return until === undefined ? definition : upTo(definition, until)
}

export const planTrial = (request: TrialRequest): TrialPlan => {
  const unanswered: string[] = []
  const part = partOf(request)
  const { graph, entries } = planGraph(request, part, '', unanswered)
  const nodes = request.only === undefined ? graph.nodes : graph.nodes.map(leaveByOut)
  return { definition: { ...part, ...graph, nodes }, nodes: entries, unanswered }
}

/** The edges of a part that was cut out have no ports. */
const leaveByOut = (node: Node): Node => {
  if (node.type !== TRIAL_ANSWER) return node
  const { port: _port, ...args } = node.args ?? {}
  return { ...node, args }
}
