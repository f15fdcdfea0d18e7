import { bodyOf } from '#model/body'
import type { Json, JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'
import { parseReference, type Segment } from '#model/reference'
import type { KindTable } from '../kinds.ts'
import { type Doc, type DocGraph, type GraphPath, graphAt } from './document.ts'
import { isCelValue, isReferenceValue } from './value.ts'

// What is known about the data of a workflow before its first execution: declared inputs, the fields of "Set values",
// the answer to a question, the items of a list. Each is a JSON Schema; undefined if nothing is known.

type Known = JsonObject | undefined

const MAX_DEPTH = 8

export type Shapes = {
  /** Returns the schema of a node's output. */
  outputOf(node: Node, path: GraphPath): Known
  /** Returns the schema of one item of the map whose body is the graph at this path. */
  itemAt(path: GraphPath): Known
  /** Returns the schema of a value's result at its place. */
  of(value: Json | undefined, path: GraphPath): Known
}

export function makeShapes(doc: Doc, kinds: KindTable): Shapes {
  const outputOf = (node: Node, path: GraphPath, depth = 0): Known => {
    const { type, args = {} } = node
    if (type === 'set' && isObject(args.values)) return of(args.values, path, depth + 1)
    if ((type === 'clarification' || type === 'llm.extract') && isObject(args.schema)) return args.schema
    if (type === 'wait.event' && isObject(args.schema)) return args.schema
    if (type === 'map') {
      const body = bodyOf(node) as unknown as DocGraph | undefined
      const items = body && bodyOutput(body, [...path, node.id], depth + 1)
      return { type: 'array', ...(items && { items }) }
    }
    return kinds.get(type)?.output_schema
  }
  const bodyOutput = (body: DocGraph, path: GraphPath, depth: number): Known => {
    if (body.output !== undefined) return of(body.output, path, depth)
    const last = body.nodes?.length === 1 ? body.nodes[0] : undefined
    return last && outputOf(last, path, depth)
  }
  const of = (value: Json | undefined, path: GraphPath, depth = 0): Known => {
    if (depth > MAX_DEPTH || value === undefined) return undefined
    if (isReferenceValue(value)) {
      const parsed = parseReference(value.$ref)
      return parsed.ok ? follow(parsed.segments, path, depth + 1) : undefined
    }
    if (isCelValue(value)) return isReferenceText(value.$cel) ? of({ $ref: value.$cel }, path, depth) : {}
    if (Array.isArray(value)) {
      const items = value.length > 0 ? of(value[0], path, depth + 1) : undefined
      return { type: 'array', ...(items && { items }) }
    }
    if (!isObject(value)) return value === null ? {} : { type: typeof value }
    const properties = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, of(inner, path, depth + 1) ?? {}]),
    )
    return { type: 'object', properties, additionalProperties: false }
  }
  const itemAt = (path: GraphPath, depth = 0): Known => {
    const outside = path.slice(0, -1)
    const map = graphAt(doc, outside)?.nodes.find(({ id }) => id === path.at(-1))
    if (map?.type !== 'map') return path.length > 1 ? itemAt(outside, depth) : undefined
    const list = of(map.args?.items, outside, depth + 1)
    return isObject(list?.items) ? list.items : undefined
  }
  const follow = ([root, ...rest]: readonly Segment[], path: GraphPath, depth: number): Known => {
    if (root === 'input') return within(doc.inputs as Known, rest)
    if (root === 'item') return within(itemAt(path, depth), rest)
    if (root === 'index' || root === 'turn') return { type: 'integer' }
    if (root !== 'nodes') return undefined
    for (let length = path.length; length >= 0; length -= 1) {
      const node = graphAt(doc, path.slice(0, length))?.nodes.find(({ id }) => id === rest[0])
      if (node) return within(outputOf(node, path.slice(0, length), depth), rest.slice(2))
    }
    return undefined
  }
  return {
    outputOf: (node, path) => outputOf(node, path),
    itemAt: (path) => itemAt(path),
    of: (v, path) => of(v, path),
  }
}

const isReferenceText = (text: string): boolean => parseReference(text.trim()).ok && /^(input|nodes|item)\b/.test(text)

/** Returns the schema one level down. */
export function fieldOf(schema: Known, key: Segment): Known {
  if (typeof key === 'number') return isObject(schema?.items) ? schema.items : undefined
  const properties = isObject(schema?.properties) ? schema.properties : {}
  const found = Object.hasOwn(properties, key) ? properties[key] : undefined
  return isObject(found) ? found : undefined
}

const within = (schema: Known, keys: readonly Segment[]): Known =>
  keys.reduce<Known>((current, key) => fieldOf(current, key), schema)

/** Returns the fields of an object that allows no other fields; undefined if it may have more. */
export function closedFields(schema: Known): string[] | undefined {
  if (!isObject(schema?.properties) || schema.additionalProperties !== false) return undefined
  return Object.keys(schema.properties)
}
