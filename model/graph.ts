// Checks whether a JSON value is a workflow. All errors that can be found before it runs are reported when it is saved,
// each with its path.

import { idsIn } from './all-ids.ts'
import { quorumProblem } from './approval.ts'
import { hasBody } from './body.ts'
import type { Definition, Edge, Graph, Json, JsonObject, Node } from './definition.ts'
import { isCel, isExpression } from './expressions.ts'
import { checkEdges, portsOf } from './graph-edges.ts'
import { checkValue, newTally, replacesValue, type Tally, type Visible } from './graph-expressions.ts'
import { makeOrder, type Order } from './graph-order.ts'
import { readGraph, readObject } from './graph-shape.ts'
import type { Issue } from './issue.ts'
import { at, isObject, measureJson } from './json.ts'
import { validateJson } from './json-schema.ts'
import { checkSchema } from './json-schema-check.ts'
import { suggestType } from './nearest.ts'
import type { NodeDescriptor } from './node.ts'

export type Kinds = ReadonlyMap<string, NodeDescriptor>
export type Validated = { ok: true; definition: Definition } | { ok: false; errors: Issue[] }

const LIMITS = { nodes: 500, edges: 2_000, map_depth: 4, json_depth: 64, json_values: 100_000 }
const MAX_ERRORS = 100

const DEFINITION_FIELDS = new Set(['inputs', 'nodes', 'edges', 'output', 'layout'])
const BODY_FIELDS = new Set(['nodes', 'edges', 'output'])

export function validateDefinition(definition: unknown, kinds: Kinds): Validated {
  const errors: Issue[] = []
  const finish = (): Validated => ({ ok: false, errors: errors.slice(0, MAX_ERRORS) })
  if (!isObject(definition)) return { ok: false, errors: [{ path: '', message: 'must be an object' }] }
  const size = measureJson(definition, { depth: LIMITS.json_depth, nodes: LIMITS.json_values })
  if (size === 'too_deep') return { ok: false, errors: [{ path: '', message: 'is nested too deeply' }] }
  if (size === 'too_large') return { ok: false, errors: [{ path: '', message: 'is too large' }] }

  readObject(definition, DEFINITION_FIELDS, '', errors)
  checkInputs(definition, errors)
  if (definition.layout !== undefined && !isObject(definition.layout)) {
    errors.push({ path: '/layout', message: 'must be an object' })
  }
  const context: Context = { kinds, errors, total: 0, tally: newTally(), ids: idsIn(definition) }
  const graph = checkGraph(definition, '', { hasNode: () => false, inMap: false, inLoop: false, depth: 0 }, context)
  if (!graph || errors.length > 0) return finish()
  return { ok: true, definition: { ...definition, ...graph } as Definition }
}

function checkInputs(definition: JsonObject, errors: Issue[]): void {
  if (definition.inputs === undefined) return
  if (!isObject(definition.inputs)) errors.push({ path: '/inputs', message: 'must be a JSON Schema object' })
  else errors.push(...checkSchema(definition.inputs).map((issue) => ({ ...issue, path: `/inputs${issue.path}` })))
}

type Context = { kinds: Kinds; errors: Issue[]; total: number; tally: Tally; ids: ReadonlySet<string> }
/** The context of a graph: for the body of a map or loop, the outer nodes that have run before the body. */
type Surrounding = { hasNode(id: string): boolean; inMap: boolean; inLoop: boolean; depth: number }

function checkGraph(source: JsonObject, path: string, outer: Surrounding, context: Context): Graph | undefined {
  const { errors } = context
  const graph = readGraph(source, path, errors)
  if (!graph) return undefined
  context.total += graph.nodes.length
  if (context.total > LIMITS.nodes) {
    errors.push({ path: `${path}/nodes`, message: `a workflow has at most ${LIMITS.nodes} nodes` })
    return undefined
  }
  if (graph.edges.length > LIMITS.edges) {
    errors.push({ path: `${path}/edges`, message: `a graph has at most ${LIMITS.edges} edges` })
    return undefined
  }
  checkIds(graph, path, outer, errors)
  checkEdges(graph, path, context.kinds, errors)
  const order = makeOrder(graph)
  const waiting = new Set(graph.nodes.filter(({ type }) => type === 'wait.event').map(({ id }) => id))
  const awaits = (id: string): boolean => waiting.has(id)
  if (order.cycle) errors.push({ path: `${path}/edges/${order.cycle.edge}`, message: cycleMessage(order.cycle.nodes) })

  const first = new Set(graph.nodes.filter((node) => node.finally !== true).map((node) => node.id))
  const nodes = graph.nodes.map((node, index) => {
    const where = `${path}/nodes/${index}`
    const before = visibleBefore(node.id, order, outer, context)
    if (node.finally === true && outer.depth > 0)
      errors.push({
        path: `${where}/finally`,
        message: 'is allowed only at the top level of a workflow, not inside a map or loop',
      })
    // When a finally node runs, all other nodes have ended.
    const hasNode = (id: string): boolean => (node.finally === true && first.has(id)) || before.hasNode(id)
    return checkNode(node, where, { ...before, hasNode, awaits }, outer, context)
  })
  for (const [index, edge] of graph.edges.entries()) {
    checkCondition(edge, `${path}/edges/${index}`, order, outer, context)
  }
  if (graph.output !== undefined) {
    const hasNode = (id: string): boolean => first.has(id) || outer.hasNode(id)
    const { inMap, inLoop } = outer
    checkValue(
      graph.output,
      `${path}/output`,
      { hasNode, awaits, inMap, inLoop, ids: context.ids, tally: context.tally },
      errors,
    )
  }
  return { ...graph, nodes }
}

const cycleMessage = (nodes: string[]): string =>
  `this edge closes a cycle: ${nodes.slice(0, 10).join(' → ')}${nodes.length > 10 ? ' …' : ''}`

function checkIds(graph: Graph, path: string, outer: Surrounding, errors: Issue[]): void {
  const seen = new Set<string>()
  for (const [index, node] of graph.nodes.entries()) {
    if (seen.has(node.id)) errors.push({ path: `${path}/nodes/${index}/id`, message: `"${node.id}" is used twice` })
    else if (outer.hasNode(node.id)) {
      errors.push({ path: `${path}/nodes/${index}/id`, message: `"${node.id}" is already a node outside this body` })
    }
    seen.add(node.id)
  }
}

function visibleBefore(id: string, order: Order, outer: Surrounding, { tally, ids }: Context): Visible {
  const hasNode = (other: string): boolean => order.before(id).has(other) || outer.hasNode(other)
  return { hasNode, ids, inMap: outer.inMap, inLoop: outer.inLoop, tally }
}

function checkCondition(edge: Edge, path: string, order: Order, outer: Surrounding, context: Context): void {
  if (!edge.when) return
  const before = visibleBefore(edge.from.node, order, outer, context)
  const hasNode = (id: string): boolean => id === edge.from.node || before.hasNode(id)
  checkValue(edge.when, `${path}/when`, { ...before, hasNode }, context.errors)
}

/** Arguments of a loop that are evaluated after each iteration and can read its state. */
const EACH_TURN: ReadonlySet<string> = new Set(['while', 'until', 'collect', 'delay_s'])

/** Checks a node and returns it with its body completed. */
function checkNode(node: Node, path: string, visible: Visible, outer: Surrounding, context: Context): Node {
  const { errors } = context
  const kind = context.kinds.get(node.type)
  if (!kind) {
    const word = node.type.slice(0, 64)
    const message = `there is no node type "${word}"${suggestType(word, [...context.kinds.keys()])}`
    errors.push({ path: `${path}/type`, message })
    return node
  }
  const args = node.args ?? {}
  errors.push(...validateJson(kind.args_schema, args, { opaque: replacesValue, path: `${path}/args` }))
  if (kind.checkArgs) errors.push(...kind.checkArgs(args, `${path}/args`))
  let body: Graph | undefined
  for (const [key, value] of Object.entries(args)) {
    const where = at(`${path}/args`, key)
    if (key === 'body' && hasBody(node.type)) body = checkBody(node.type, value, where, visible, outer, context)
    else if (node.type === 'loop' && EACH_TURN.has(key)) checkValue(value, where, { ...visible, inLoop: true }, errors)
    else if (node.type === 'approval' && key === 'policy') checkPolicy(value, where, visible, errors)
    else checkValue(value, where, seenBy(kind, key, visible), errors)
  }
  checkBounds(args, kind, `${path}/args`, errors)
  if (node.on_error === 'continue') checkGoesOn(node, kind, path, errors)
  if (node.disabled === true) checkDisabled(node, kind, path, errors)
  if (node.type === 'branch') checkCases(args, `${path}/args`, errors)
  if (node.type === 'clarification' || node.type === 'llm.extract')
    checkSchemaGiven(node, `${path}/args/schema`, errors)
  if (node.type === 'agent.run') checkGrants(args, `${path}/args`, context)
  return body ? { ...node, args: { ...args, body: body as unknown as JsonObject } } : node
}

/** Refuses to disable a node with several ports: without the node, nothing decides which port to use. */
function checkDisabled(node: Node, kind: NodeDescriptor, path: string, errors: Issue[]): void {
  const ways = portsOf(node, kind).filter((port) => port !== 'error')
  if (ways.every((port) => port === 'out')) return
  errors.push({
    path: `${path}/disabled`,
    message: 'is allowed only for nodes with one output port; connect the nodes before and after this one directly',
  })
}

/** Where a schema has `x-roots: [names]`, the expressions of that argument can read only these names. */
function seenBy({ args_schema }: NodeDescriptor, key: string, visible: Visible): Visible {
  const schema = isObject(args_schema.properties) ? args_schema.properties[key] : undefined
  const roots = isObject(schema) ? schema['x-roots'] : undefined
  return Array.isArray(roots) ? { ...visible, roots: new Set(roots.map(String)) } : visible
}

/**
 * Where a schema has `x-one-of: "list"`, an expression is allowed only together with that list, which limits its
 * result.
 */
function checkBounds(args: JsonObject, { args_schema }: NodeDescriptor, path: string, errors: Issue[]): void {
  const fields = isObject(args_schema.properties) ? args_schema.properties : {}
  for (const [key, schema] of Object.entries(fields)) {
    const list = isObject(schema) ? schema['x-one-of'] : undefined
    const value = args[key]
    if (typeof list !== 'string' || value === undefined || !isExpression(value) || Array.isArray(args[list])) continue
    const message = `must be a fixed value; to compute it, list the allowed values in "${list}"`
    errors.push({ path: at(path, key), message })
  }
}

function checkBody(
  type: string,
  body: Json,
  path: string,
  visible: Visible,
  outer: Surrounding,
  context: Context,
): Graph | undefined {
  if (!isObject(body)) {
    context.errors.push({ path, message: 'must be an object with nodes and edges' })
    return undefined
  }
  if (outer.depth >= LIMITS.map_depth) {
    context.errors.push({ path, message: `maps and loops may be nested at most ${LIMITS.map_depth} levels deep` })
    return undefined
  }
  readObject(body, BODY_FIELDS, path, context.errors)
  const inside = {
    hasNode: visible.hasNode,
    inMap: outer.inMap || type === 'map',
    inLoop: outer.inLoop || type === 'loop',
    depth: outer.depth + 1,
  }
  return checkGraph(body, path, inside, context)
}

const QUORUM_NAMES: ReadonlySet<string> = new Set(['approvals', 'rejections', 'abstentions', 'outstanding', 'votes'])

function checkPolicy(policy: Json, path: string, visible: Visible, errors: Issue[]): void {
  if (!isObject(policy)) {
    checkValue(policy, path, visible, errors)
    return
  }
  for (const [key, value] of Object.entries(policy)) {
    const own = key === 'quorum' && isCel(value) ? { ...visible, roots: QUORUM_NAMES } : visible
    const before = errors.length
    checkValue(value, at(path, key), own, errors)
    const wrong = own !== visible && errors.length === before ? quorumProblem((value as { $cel: string }).$cel) : null
    if (wrong !== null) errors.push({ path: at(path, key), message: wrong })
  }
}

/**
 * Refuses `continue` on a node without the port `out`. Continuing after a failure uses `out`, so nothing would follow
 * the node, and users would not see why.
 */
function checkGoesOn(node: Node, kind: NodeDescriptor, path: string, errors: Issue[]): void {
  const ports = portsOf(node, kind)
  if (ports.length === 0 || ports.includes('out')) return
  const message = `"${node.id}" has no port "out" to continue on; use "route", which continues on "error", or "fail"`
  errors.push({ path: `${path}/on_error`, message })
}

function checkCases(args: JsonObject, path: string, errors: Issue[]): void {
  const seen = new Set<string>()
  for (const [index, item] of (Array.isArray(args.cases) ? args.cases : []).entries()) {
    if (!isObject(item) || typeof item.port !== 'string') continue
    const where = `${path}/cases/${index}/port`
    if (item.port === 'default' || item.port === 'error')
      errors.push({ path: where, message: `"${item.port}" is reserved` })
    if (seen.has(item.port)) errors.push({ path: where, message: `port "${item.port}" is used twice` })
    seen.add(item.port)
  }
}

function checkSchemaGiven({ type, args }: Node, path: string, errors: Issue[]): void {
  const schema = args?.schema
  if (schema === undefined || isExpression(schema)) return
  const issues = checkSchema(schema, path)
  // The result of llm.extract is an object with fields.
  if (type === 'llm.extract' && issues.length === 0 && isObject(schema) && (schema.type ?? 'object') !== 'object')
    issues.push({ path: `${path}/type`, message: 'must be object' })
  errors.push(...issues)
}

/** Checks that an agent calls tools only: no control nodes, no people, no other agents. */
function checkGrants({ tools }: JsonObject, path: string, { kinds, errors }: Context): void {
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const type = isObject(tool) ? tool.type : tool
    if (typeof type !== 'string') continue
    const kind = kinds.get(type)
    if (kind?.kind === 'tool') continue
    const named = `"${type.slice(0, 64)}"`
    const message = kind ? `${named} is not a tool; an agent can be granted tools only` : `there is no tool ${named}`
    errors.push({ path: `${path}/tools/${index}${isObject(tool) ? '/type' : ''}`, message })
  }
}
