import type { Definition } from '#model/definition'
import { type Change, type DefinitionDiff, diffDefinitions } from '#model/graph-diff'
import { type Doc, type DocGraph, portOf, readDoc } from './document.ts'

// Two versions as one graph: the newer version, with removed parts added back so that they are visible.

export type Mark = 'added' | 'removed' | 'changed'
export type Comparison = {
  doc: Doc
  nodes: ReadonlyMap<string, Mark>
  edges: ReadonlyMap<string, Mark>
  changes: ReadonlyMap<string, Change[]>
  diff: DefinitionDiff
}

const edgeKey = (edge: DocGraph['edges'][number]): string =>
  JSON.stringify([edge.from.node, portOf(edge), edge.to, edge.when?.$cel ?? null])

export function compare(before: Doc, after: Doc): Comparison {
  const diff = diffDefinitions(before as Definition, after as Definition)
  const nodes = new Map<string, Mark>()
  for (const { id } of diff.nodes.added) nodes.set(id, 'added')
  for (const { id } of diff.nodes.removed) nodes.set(id, 'removed')
  for (const { node_id } of diff.nodes.changed) nodes.set(node_id, 'changed')
  const removed = new Set(diff.edges.removed.map((edge) => edgeKey(edge as DocGraph['edges'][number])))
  const added = new Set(diff.edges.added.map((edge) => edgeKey(edge as DocGraph['edges'][number])))
  const merged = readDoc({
    ...after,
    nodes: [...after.nodes, ...diff.nodes.removed],
    edges: [...after.edges, ...before.edges.filter((edge) => removed.has(edgeKey(edge)))].map(
      ({ id: _id, ...edge }) => edge,
    ),
    layout: { positions: { ...before.layout.positions, ...after.layout.positions } },
  })
  const edges = new Map<string, Mark>()
  for (const edge of merged.edges) {
    const key = edgeKey(edge)
    if (added.has(key)) edges.set(edge.id, 'added')
    else if (removed.has(key)) edges.set(edge.id, 'removed')
  }
  return {
    doc: merged,
    nodes,
    edges,
    diff,
    changes: new Map(diff.nodes.changed.map(({ node_id, changes }) => [node_id, changes])),
  }
}
