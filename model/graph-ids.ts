import { bodyOf } from './body.ts'
import type { Definition, Graph, Json, JsonObject, Node } from './definition.ts'
import type { Kinds } from './graph.ts'
import { at, isObject, own } from './json.ts'

/** Yields every node of a graph, including nodes in the bodies of maps and loops. */
export function* allNodes(graph: Graph): Generator<Node> {
  for (const node of graph.nodes) {
    yield node
    const body = bodyOf(node)
    if (body && Array.isArray(body.nodes)) yield* allNodes(body as unknown as Graph)
  }
}

/** Yields every node, as `allNodes` does, with its path as a JSON Pointer. */
export function* allNodesWithPaths(graph: Graph, path = ''): Generator<{ node: Node; path: string }> {
  for (const [index, node] of graph.nodes.entries()) {
    const where = `${path}/nodes/${index}`
    yield { node, path: where }
    const body = bodyOf(node)
    if (body && Array.isArray(body.nodes)) yield* allNodesWithPaths(body as unknown as Graph, `${where}/args/body`)
  }
}

/** Checks whether a node of the definition is of a kind whose usage is counted. */
export const isMetered = (definition: Definition, kinds: Kinds): boolean =>
  [...allNodes(definition)].some(({ type }) => kinds.get(type)?.metered === true)

/** The id of a resource of the workspace, written as a literal in an argument. */
export type LiteralId = { path: string; prefix: string; id: string }

/**
 * Returns every literal id in a definition, found by `x-id` in the schemas of its nodes (`{"x-id": "wf"}`), or by
 * `x-id-by-kind` if the field `kind` determines what the field `id` names (`{"x-id-by-kind": {"user": "usr"}}`). The
 * fixed and allowed arguments of a tool (`{"x-tool": true}`) follow the schema of its node type. Code that saves a
 * definition must check that the ids belong to the caller's workspace; the node checks again when it runs.
 */
export function literalIds(definition: Definition, kinds: Kinds): LiteralId[] {
  const found: LiteralId[] = []
  const visit = (schema: Json | undefined, value: Json, path: string): void => {
    if (!isObject(schema)) return
    const prefix = own(schema, 'x-id')
    if (typeof prefix === 'string' && typeof value === 'string') found.push({ path, prefix, id: value })
    const byKind = own(schema, 'x-id-by-kind')
    if (isObject(byKind) && isObject(value) && typeof value.kind === 'string' && typeof value.id === 'string') {
      const named = own(byKind, value.kind)
      if (typeof named === 'string') found.push({ path: at(path, 'id'), prefix: named, id: value.id })
    }
    if (own(schema, 'x-tool') === true && isObject(value)) visitTool(value, path)
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const branches = own(schema, keyword)
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, value, path)
    }
    const properties = own(schema, 'properties')
    if (isObject(value) && isObject(properties)) {
      for (const [key, item] of Object.entries(value)) visit(own(properties, key), item, at(path, key))
    }
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) visit(own(schema, 'items'), item, at(path, index))
  }
  const visitTool = (tool: JsonObject, path: string): void => {
    const schema = kinds.get(String(tool.type))?.args_schema
    const given = tool.arguments
    if (!schema || !isObject(given)) return
    if (isObject(given.fixed)) visit(schema, given.fixed, at(at(path, 'arguments'), 'fixed'))
    for (const [name, values] of Object.entries(isObject(given.allowed) ? given.allowed : {})) {
      const field = isObject(schema.properties) ? own(schema.properties, name) : undefined
      const where = at(at(at(path, 'arguments'), 'allowed'), name)
      if (Array.isArray(values)) for (const [index, value] of values.entries()) visit(field, value, at(where, index))
    }
  }
  const graph = (current: Graph, path: string): void => {
    for (const [index, node] of current.nodes.entries()) {
      const where = `${path}/nodes/${index}/args`
      visit(kinds.get(node.type)?.args_schema, node.args ?? {}, where)
      const body = bodyOf(node)
      if (body && Array.isArray(body.nodes)) graph(body as unknown as Graph, `${where}/body`)
    }
  }
  graph(definition, '')
  const seen = new Set<string>()
  return found.filter(({ path, prefix }) => !seen.has(`${prefix} ${path}`) && seen.add(`${prefix} ${path}`))
}
