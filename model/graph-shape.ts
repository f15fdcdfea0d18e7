import type { Edge, Graph, Json, JsonObject, Node } from './definition.ts'
import type { Issue } from './issue.ts'
import { at, isForbiddenKey, isObject } from './json.ts'
import { validateJson } from './json-schema.ts'

/** Node ids appear in references and paths, so they contain no dot, bracket or space. */
const ID = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$'

export const NODE_SCHEMA: JsonObject = {
  type: 'object',
  required: ['id', 'type'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', pattern: ID },
    type: { type: 'string', minLength: 1, maxLength: 64 },
    name: { type: 'string', maxLength: 200 },
    args: { type: 'object' },
    retry: {
      type: 'object',
      required: ['max_attempts', 'backoff_s'],
      additionalProperties: false,
      properties: {
        max_attempts: { type: 'integer', minimum: 1, maximum: 100 },
        backoff_s: { type: 'number', minimum: 0, maximum: 86_400 },
        factor: { type: 'number', minimum: 1, maximum: 10 },
        max_backoff_s: { type: 'number', minimum: 0, maximum: 86_400 },
        jitter: { type: 'number', minimum: 0, maximum: 1 },
        on: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 64 },
          minItems: 1,
          maxItems: 50,
        },
      },
    },
    timeout_s: { type: 'number', exclusiveMinimum: 0, maximum: 31_536_000 },
    on_error: { enum: ['fail', 'continue', 'route'] },
    join: { enum: ['all', 'any'] },
    finally: { type: 'boolean' },
    disabled: { type: 'boolean' },
  },
}

export const EDGE_SCHEMA: JsonObject = {
  type: 'object',
  required: ['from', 'to'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 200 },
    from: {
      type: 'object',
      required: ['node'],
      additionalProperties: false,
      properties: { node: { type: 'string' }, port: { type: 'string', minLength: 1, maxLength: 64 } },
    },
    to: { type: 'string' },
    when: {
      type: 'object',
      required: ['$cel'],
      additionalProperties: false,
      properties: { $cel: { type: 'string', minLength: 1 } },
    },
  },
}

export function readObject(source: JsonObject, fields: ReadonlySet<string>, path: string, errors: Issue[]): void {
  for (const key of Object.keys(source)) {
    if (!fields.has(key)) errors.push({ path: at(path, key), message: 'unknown field' })
  }
}

/** Returns nodes and edges with the right fields, or undefined if the shape is too wrong for further checks. */
export function readGraph(source: JsonObject, path: string, errors: Issue[]): Graph | undefined {
  const before = errors.length
  const nodes = readList(source.nodes, NODE_SCHEMA, `${path}/nodes`, true, errors)
  const edges = readList(source.edges, EDGE_SCHEMA, `${path}/edges`, false, errors)
  for (const [index, node] of (nodes ?? []).entries()) {
    // States, outputs and scopes are objects keyed by node id, so the name of an inherited property is not a valid id.
    if (isObject(node) && typeof node.id === 'string' && (isForbiddenKey(node.id) || node.id in Object.prototype)) {
      errors.push({ path: `${path}/nodes/${index}/id`, message: `"${node.id}" is not allowed as an id` })
    }
  }
  if (errors.length > before || !nodes || !edges) return undefined
  const graph: Graph = { nodes: nodes as unknown as Node[], edges: edges as unknown as Edge[] }
  return source.output === undefined ? graph : { ...graph, output: source.output }
}

function readList(value: Json | undefined, schema: JsonObject, path: string, required: boolean, errors: Issue[]) {
  if (value === undefined && !required) return []
  if (!Array.isArray(value)) {
    errors.push({ path, message: value === undefined ? 'is required' : 'must be a list' })
    return undefined
  }
  for (const [index, item] of value.entries()) errors.push(...validateJson(schema, item, { path: at(path, index) }))
  return value
}
