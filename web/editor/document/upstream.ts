import type { Json, JsonObject, Node } from '#model/definition'
import { makeOrder } from '#model/graph-order'
import { isObject } from '#model/json'
import type { Execution } from '#sdk/types.generated'
import type { KindTable } from '../kinds.ts'
import { type Doc, type GraphPath, graphAt, titleOf } from './document.ts'
import { makeShapes } from './shapes.ts'
import { isLarge } from './value.ts'

// The data that a value at one place may reference: the input, the outputs of earlier nodes, the item of a map, the
// state of a loop.

export type Source = {
  /** The start of the references that it offers: `nodes.fetch.output`. */
  reference: string
  title: string
  hint: string
  schema: JsonObject | undefined
  /** The value in the last execution; undefined if there was none. */
  sample: Json | undefined
}

/** The outputs of the nodes of an open body for one item of the shown execution, and that item. */
export type InnerData = { item: Json | undefined; outputs: Readonly<Record<string, Json>> }
const NO_INNER: InnerData = { item: undefined, outputs: {} }

/** The place of the value: in a node, on an edge (by its source node), or in the result of the graph. */
export type Reader = { kind: 'node'; id: string } | { kind: 'edge'; from: string } | { kind: 'output' }

const EXECUTION_FIELDS: JsonObject = {
  type: 'object',
  properties: {
    execution_id: { type: 'string' },
    workspace_id: { type: 'string' },
    workflow_id: { type: 'string' },
    started_by: { type: 'string' },
    trigger: { type: 'object', properties: { kind: { type: 'string' }, id: { type: 'string' } } },
  },
}

export function visibleNodes(doc: Doc, path: GraphPath, reader: Reader): string[] {
  const graph = graphAt(doc, path)
  if (!graph) return []
  const order = makeOrder(graph)
  const first = graph.nodes.filter((node) => node.finally !== true).map((node) => node.id)
  const isLast = reader.kind === 'node' && graph.nodes.some((node) => node.id === reader.id && node.finally === true)
  const here =
    reader.kind === 'output'
      ? first
      : [
          ...(isLast ? first : []),
          ...order.before(reader.kind === 'node' ? reader.id : reader.from),
          ...(reader.kind === 'edge' ? [reader.from] : []),
        ]
  const map = path.at(-1)
  return map === undefined ? here : [...here, ...visibleNodes(doc, path.slice(0, -1), { kind: 'node', id: map })]
}

export function sourcesFor(
  doc: Doc,
  path: GraphPath,
  reader: Reader,
  kinds: KindTable,
  last: Execution | null,
  vars?: JsonObject,
  inner: InnerData = NO_INNER,
): Source[] {
  const sources: Source[] = []
  const shapes = makeShapes(doc, kinds)
  const around = typesAround(doc, path)
  if (around.includes('map')) {
    sources.push({
      reference: 'item',
      title: 'Item',
      hint: 'of this iteration',
      schema: shapes.itemAt(path),
      sample: inner.item ?? itemSample(doc, path, last),
    })
    sources.push({
      reference: 'index',
      title: 'Position',
      hint: 'of the item, starting at 0',
      schema: { type: 'number' },
      sample: 0,
    })
  }
  const isLoop = reader.kind === 'node' && graphAt(doc, path)?.nodes.find(({ id }) => id === reader.id)?.type === 'loop'
  if (isLoop || around.includes('loop')) {
    const hint = isLoop ? 'of the loop, in its conditions' : 'of this turn'
    sources.push({ reference: 'state', title: 'State', hint, schema: undefined, sample: undefined })
    sources.push({ reference: 'turn', title: 'Turn', hint: 'turns so far', schema: { type: 'number' }, sample: 0 })
  }
  const nodes = new Map<string, { node: Node; at: GraphPath }>()
  for (let depth = 0; depth <= path.length; depth += 1) {
    const at = path.slice(0, depth)
    for (const node of graphAt(doc, at)?.nodes ?? []) nodes.set(node.id, { node, at })
  }
  for (const id of visibleNodes(doc, path, reader)) {
    const found = nodes.get(id)
    if (!found) continue
    const { node, at } = found
    sources.push({
      reference: `nodes.${id}.output`,
      title: titleOf(node),
      hint: kinds.get(node.type)?.title ?? node.type,
      schema: shapes.outputOf(node, at),
      sample: at.length === 0 ? outputOf(last, id) : inner.outputs[id],
    })
  }
  sources.push({
    reference: 'input',
    title: 'Input',
    hint: 'of the run',
    schema: doc.inputs,
    sample: last ? (last.input as Json) : undefined,
  })
  sources.push({
    reference: 'execution',
    title: 'This run',
    hint: 'details of this run',
    schema: EXECUTION_FIELDS,
    sample: undefined,
  })
  if (vars && Object.keys(vars).length > 0)
    sources.push({
      reference: 'vars',
      title: 'Variables',
      hint: 'of the workspace',
      schema: undefined,
      sample: vars,
    })
  return sources
}

/** Returns the types of the nodes in whose bodies the graph at this path is. */
const typesAround = (doc: Doc, path: GraphPath): string[] =>
  path.flatMap((id, depth) => {
    const node = graphAt(doc, path.slice(0, depth))?.nodes.find((one) => one.id === id)
    return node ? [node.type] : []
  })

/** Returns the output of a node; a large output is only an address, which is no sample. */
function outputOf(last: Execution | null, id: string): Json | undefined {
  const output = last?.nodes.find((node) => node.node_id === id)?.output as Json | undefined
  return isLarge(output) ? undefined : output
}

/** Returns the first item of the outermost map if its items are a plain reference; computed items have no sample. */
function itemSample(doc: Doc, path: GraphPath, last: Execution | null): Json | undefined {
  if (!last || path.length !== 1) return undefined
  const items = doc.nodes.find((node) => node.id === path[0])?.args?.items
  const list = isObject(items) && typeof items.$ref === 'string' ? follow(items.$ref, last) : items
  return Array.isArray(list) ? list[0] : undefined
}

function follow(reference: string, last: Execution): Json | undefined {
  const [root, ...rest] = reference.split('.')
  const [start, keys] = root === 'input' ? [last.input as Json, rest] : [outputOf(last, rest[0] ?? ''), rest.slice(2)]
  let current: Json | undefined = start
  for (const key of keys) current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined
  return current
}

export type Branch = { key: string | number; schema: JsonObject | undefined; sample: Json | undefined }

const MAX_ITEMS = 20

/** Returns the next level: the fields of the sample and the possible fields of the schema. */
export function branchesOf({ schema, sample }: { schema: JsonObject | undefined; sample: Json | undefined }): Branch[] {
  const properties = isObject(schema?.properties) ? schema.properties : {}
  const inner = (key: string): JsonObject | undefined => {
    const found = Object.hasOwn(properties, key) ? properties[key] : undefined
    return isObject(found) ? found : undefined
  }
  if (Array.isArray(sample)) {
    const items = isObject(schema?.items) ? schema.items : undefined
    return sample.slice(0, MAX_ITEMS).map((item, key) => ({ key, schema: items, sample: item }))
  }
  if (sample === undefined && isObject(schema?.items)) return [{ key: 0, schema: schema.items, sample: undefined }]
  const keys = new Set([...Object.keys(isObject(sample) ? sample : {}), ...Object.keys(properties)])
  return [...keys].map((key) => ({
    key,
    schema: inner(key),
    sample: isObject(sample) && Object.hasOwn(sample, key) ? sample[key] : undefined,
  }))
}
