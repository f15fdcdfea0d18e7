import { bodyOf } from '#model/body'
import { sizeOfNode } from '../canvas/size.ts'
import type { KindTable } from '../kinds.ts'
import { setPositions } from './commands.ts'
import { type Doc, type DocGraph, type GraphPath, type Point, positionKey, readDoc } from './document.ts'

/** Returns a definition ready to be drawn: nodes without a position, as from the API or a file, get one. */
export async function openDoc(definition: unknown, kinds: KindTable): Promise<Doc> {
  const doc = readDoc(definition)
  const missing = graphsWithout(doc, doc, [])
  if (missing.length === 0) return doc
  const { arrange } = await import('./arrange.ts')
  return missing.reduce((arranged, { path, graph }) => {
    const places = arrange(graph, sizesIn(graph, kinds))
    const absent = graph.nodes.filter(({ id }) => !doc.layout.positions[positionKey(path, id)])
    return setPositions(arranged, path, Object.fromEntries(absent.map(({ id }) => [id, places[id] as Point])))
  }, doc)
}

export function sizesIn(graph: DocGraph, kinds: KindTable) {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]))
  return (id: string) => sizeOfNode(nodes.get(id)!, kinds.get(nodes.get(id)!.type))
}

function graphsWithout(doc: Doc, graph: DocGraph, path: GraphPath): { path: GraphPath; graph: DocGraph }[] {
  const here = graph.nodes.some(({ id }) => !doc.layout.positions[positionKey(path, id)]) ? [{ path, graph }] : []
  const inside = graph.nodes.flatMap((node) => {
    const body = bodyOf(node)
    if (!body || !Array.isArray(body.nodes)) return []
    return graphsWithout(doc, body as unknown as DocGraph, [...path, node.id])
  })
  return [...here, ...inside]
}
