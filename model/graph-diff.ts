import { canonicalText } from './canonical.ts'
import type { Definition, Edge, Json, JsonObject, Node } from './definition.ts'
import { at, isObject } from './json.ts'

export type Change = { path: string; before?: Json; after?: Json }

export type DefinitionDiff = {
  identical: boolean
  nodes: {
    added: Node[]
    removed: Node[]
    changed: { node_id: string; changes: Change[] }[]
  }
  edges: { added: Edge[]; removed: Edge[] }
  inputs: Change[]
  output: Change[]
  layout_changed: boolean
}

const MAX_CHANGES = 200

/** Returns the changes from `before` to `after`; nodes are matched by id, edges by the nodes they connect. */
export function diffDefinitions(before: Definition, after: Definition): DefinitionDiff {
  const old = new Map(before.nodes.map((node) => [node.id, node]))
  const now = new Map(after.nodes.map((node) => [node.id, node]))
  const nodes = {
    added: after.nodes.filter((node) => !old.has(node.id)),
    removed: before.nodes.filter((node) => !now.has(node.id)),
    changed: after.nodes.flatMap((node) => {
      const previous = old.get(node.id)
      const changes = previous ? changesBetween(previous as unknown as Json, node as unknown as Json) : []
      return changes.length > 0 ? [{ node_id: node.id, changes }] : []
    }),
  }
  const oldEdges = new Map((before.edges ?? []).map((edge) => [edgeKey(edge), edge]))
  const newEdges = new Map((after.edges ?? []).map((edge) => [edgeKey(edge), edge]))
  const edges = {
    added: [...newEdges].filter(([key]) => !oldEdges.has(key)).map(([, edge]) => edge),
    removed: [...oldEdges].filter(([key]) => !newEdges.has(key)).map(([, edge]) => edge),
  }
  const inputs = changesBetween(before.inputs, after.inputs)
  const output = changesBetween(before.output, after.output)
  const counts = [nodes.added, nodes.removed, nodes.changed, edges.added, edges.removed, inputs, output]
  return {
    identical: counts.every((list) => list.length === 0),
    nodes,
    edges,
    inputs,
    output,
    layout_changed: canonicalText(before.layout ?? {}) !== canonicalText(after.layout ?? {}),
  }
}

const edgeKey = (edge: Edge): string =>
  canonicalText([edge.from.node, edge.from.port ?? 'out', edge.to, edge.when?.$cel ?? null])

export function changesBetween(before: Json | undefined, after: Json | undefined): Change[] {
  const changes: Change[] = []
  const visit = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (changes.length >= MAX_CHANGES) return
    if (a === undefined || b === undefined) {
      if (a === b) return
      changes.push({ path, ...(a === undefined ? {} : { before: a }), ...(b === undefined ? {} : { after: b }) })
    } else if (isObject(a) && isObject(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
        visit(member(a, key), member(b, key), at(path, key))
    } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [index, item] of a.entries()) visit(item, b[index], at(path, index))
    } else if (canonicalText(a) !== canonicalText(b)) {
      changes.push({ path, before: a, after: b })
    }
  }
  visit(before, after, '')
  return changes
}

const member = (value: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined
