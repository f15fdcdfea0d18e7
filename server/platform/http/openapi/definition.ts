import { EDGE_SCHEMA, NODE_SCHEMA } from '#model/graph-shape'
import type { NodeDescriptor } from '#model/node'
import { describeFields } from './fields.ts'
import { type Components, componentRef, isSchema, type Schema } from './schemas.ts'

// Workflow definitions as components: one schema per node type, printed from the registry.

/** `http.request` → `HttpRequestNode`. */
const nodeName = (type: string): string =>
  `${type
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Node`

const isPlain = (schema: Schema): boolean =>
  Object.keys(schema).every((key) => ['title', 'description', 'default'].includes(key) || key.startsWith('x-'))

const mapSchemas = (value: unknown, change: (schema: Schema) => Schema): unknown => {
  if (Array.isArray(value)) return value.map((one) => (isSchema(one) ? change(one) : one))
  return isSchema(value) ? change(value) : value
}

/** Keywords whose schemas describe parts of the value. An expression may replace a part. */
const HOLD_PARTS = new Set(['items', 'additionalProperties', 'prefixItems'])
const HOLD_NAMED_PARTS = new Set(['properties', 'patternProperties'])
/** Keywords whose schemas describe the value itself. */
const HOLD_SHAPES = new Set(['anyOf', 'oneOf', 'allOf', 'not'])

/** Returns the schema of the evaluated argument, without the keywords for the editor. */
function literalOf(schema: Schema): Schema {
  const { title: _title, description: _description, default: _default, ...rest } = schema
  const entries = Object.entries(rest).flatMap(([key, inner]): [string, unknown][] => {
    if (key.startsWith('x-')) return []
    if (HOLD_PARTS.has(key)) return [[key, mapSchemas(inner, argumentOf)]]
    if (HOLD_SHAPES.has(key)) return [[key, mapSchemas(inner, literalOf)]]
    if (HOLD_NAMED_PARTS.has(key) && isSchema(inner))
      return [
        [key, Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, mapSchemas(one, argumentOf)]))],
      ]
    return [[key, inner]]
  })
  const literal = Object.fromEntries(entries)
  if (literal.type === 'array' && literal.items === undefined) return { ...literal, items: componentRef('Value') }
  if (literal.type === 'object' && literal.properties === undefined && literal.additionalProperties === undefined)
    return { ...literal, additionalProperties: componentRef('Value') }
  return literal
}

/**
 * Returns the schema of an argument as it is written: an expression may replace it unless the registry says `x-value`.
 */
function argumentOf(schema: Schema): Schema {
  const about = schema.description ?? schema.title
  const said = {
    ...(about !== undefined && { description: about }),
    ...(schema.default !== undefined && { default: schema.default }),
  }
  if (schema['x-value'] === 'graph') return { ...said, ...componentRef('Graph') }
  if (isPlain(schema)) return { ...said, ...componentRef('Value') }
  const literal = literalOf(schema)
  return schema['x-value'] === undefined
    ? { ...said, anyOf: [literal, componentRef('Expression')] }
    : { ...said, ...literal }
}

const nodeOf = ({ type, title, description, args_schema }: NodeDescriptor): Schema => {
  const properties = NODE_SCHEMA.properties as Record<string, Schema>
  const args = literalOf(args_schema as Schema)
  return {
    ...(NODE_SCHEMA as Schema),
    description: `${title}. ${description}`,
    properties: {
      ...properties,
      type: { const: type, type: 'string', description: 'The type of the node' },
      args: { ...args, description: 'The arguments of the node. An expression can replace a value at any depth.' },
    },
  }
}

const LIST_OF_NODES = { type: 'array', items: componentRef('Node'), description: 'The steps of the graph' }
const LIST_OF_EDGES = {
  type: 'array',
  items: componentRef('Edge'),
  description:
    'The connections between nodes. A node runs when the nodes that lead to it have ended: all or any of them, as its `join` says',
}
const OUTPUT = { ...componentRef('Value'), description: 'What the graph returns' }

export function definitionComponents(nodes: Iterable<NodeDescriptor>): Components {
  const all = [...nodes]
  const named = all.map((node) => [nodeName(node.type), nodeOf(node)] as const)
  const components: Components = {
    Definition: {
      type: 'object',
      description: 'A workflow: a graph of nodes.',
      required: ['nodes'],
      additionalProperties: false,
      properties: {
        inputs: {
          type: 'object',
          additionalProperties: true,
          description: 'A JSON Schema that the input of every run must match. Forms are generated from it',
        },
        nodes: LIST_OF_NODES,
        edges: LIST_OF_EDGES,
        output: OUTPUT,
        layout: {
          type: 'object',
          additionalProperties: true,
          description: 'Where the editor shows each node. It has no effect on runs',
        },
      },
    },
    Graph: {
      type: 'object',
      description: 'The body of a node that repeats: a graph inside a graph.',
      required: ['nodes'],
      additionalProperties: false,
      properties: { nodes: LIST_OF_NODES, edges: LIST_OF_EDGES, output: OUTPUT },
    },
    Node: {
      description: 'One step of a workflow. GET /api/registry lists the types that are available here.',
      oneOf: named.map(([name]) => componentRef(name)),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(all.map(({ type }) => [type, `#/components/schemas/${nodeName(type)}`])),
      },
    },
    Edge: { ...(EDGE_SCHEMA as Schema), description: 'Leads from one node to the next.' },
    Value: {
      type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
      additionalProperties: true,
      items: {},
      description:
        'Any JSON. At any depth, an object with the single key `$ref` (a path such as `nodes.fetch.output.body`) or `$cel` (a CEL expression) is replaced by its value when the node runs. A plain string is never code.',
    },
    Expression: {
      description: 'A value that is computed when the node runs.',
      oneOf: [componentRef('Reference'), componentRef('CelExpression')],
    },
    // Tools mistake a property named "$ref" for a reference within the document, so its name is given in another way.
    Reference: {
      type: 'object',
      description:
        'The value at a path: one key, `$ref`, with a path such as `input.email` or `nodes.fetch.output.body.items[0]`. A missing value is null.',
      minProperties: 1,
      maxProperties: 1,
      propertyNames: { enum: ['$ref'] },
      additionalProperties: { type: 'string' },
    },
    CelExpression: {
      type: 'object',
      description: 'The value of an expression in CEL.',
      required: ['$cel'],
      additionalProperties: false,
      properties: { $cel: { type: 'string', description: 'Such as `size(input.items) > 3`' } },
    },
  }
  for (const [name, schema] of named) components[name] = schema
  return Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, describeFields(schema, name)]))
}
