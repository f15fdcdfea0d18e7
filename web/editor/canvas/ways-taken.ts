import type { NodeStatus } from '#model/definition'
import { type DocGraph, type KeyedEdge, portOf } from '../document/document.ts'

// Which edges a run went along. The journal says by which output each node left; a condition is only in doubt where several edges
// lead to a node that has run.

export type NodeWay = { status: NodeStatus; port?: string | undefined }
export type Ways = {
  taken: ReadonlySet<string>
  /** Decided, and not taken. */
  left: ReadonlySet<string>
  /** Taken or not: their conditions would tell. */
  doubtful: readonly KeyedEdge[]
}

const hasBegun = (status: NodeStatus | undefined): boolean =>
  status !== undefined && status !== 'pending' && status !== 'skipped'

/** `holds` says what a condition came to, where that is known. */
export function waysTaken(
  graph: Pick<DocGraph, 'edges'>,
  runs: ReadonlyMap<string, NodeWay>,
  holds: (edge: KeyedEdge) => boolean | undefined = () => undefined,
): Ways {
  const taken = new Set<string>()
  const left = new Set<string>()
  const doubtful: KeyedEdge[] = []
  const open = graph.edges.filter((edge) => {
    const [source, target] = [runs.get(edge.from.node), runs.get(edge.to)]
    const isOver = source?.status === 'succeeded' || source?.status === 'failed'
    const mayGoOn = isOver && (source.port ?? 'out') === portOf(edge) && target?.status !== 'skipped'
    if (!mayGoOn && (isOver || source?.status === 'skipped' || target?.status === 'skipped')) left.add(edge.id)
    // A join waits for its other edges; whether a condition held or a failure was handled is known when it has begun.
    const isPlain = edge.when === undefined && source?.status === 'succeeded' && target !== undefined
    return mayGoOn && (isPlain || hasBegun(target?.status))
  })
  const leadingTo = Map.groupBy(open, ({ to }) => to)
  for (const edge of open) {
    const isOnly = leadingTo.get(edge.to)!.length === 1
    const held = edge.when === undefined || isOnly ? true : holds(edge)
    if (held === undefined) doubtful.push(edge)
    if (held === false) left.add(edge.id)
    else taken.add(edge.id)
  }
  return { taken, left, doubtful }
}
