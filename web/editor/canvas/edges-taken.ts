import type { NodeStatus } from '#model/definition'
import { type DocGraph, type KeyedEdge, portOf } from '../document/document.ts'

// Determines which edges an execution took. The journal contains the port by which each node left; a condition is
// uncertain only if several edges lead to a node that has run.

export type NodeExit = { status: NodeStatus; port?: string | undefined }
export type TakenEdges = {
  taken: ReadonlySet<string>
  /** Decided and not taken. */
  left: ReadonlySet<string>
  /** Edges that may have been taken: only their conditions can tell. */
  doubtful: readonly KeyedEdge[]
}

const hasBegun = (status: NodeStatus | undefined): boolean =>
  status !== undefined && status !== 'pending' && status !== 'skipped'

/** `holds` returns the result of a condition, if it is known. */
export function edgesTaken(
  graph: Pick<DocGraph, 'edges'>,
  runs: ReadonlyMap<string, NodeExit>,
  holds: (edge: KeyedEdge) => boolean | undefined = () => undefined,
): TakenEdges {
  const taken = new Set<string>()
  const left = new Set<string>()
  const doubtful: KeyedEdge[] = []
  const open = graph.edges.filter((edge) => {
    const [source, target] = [runs.get(edge.from.node), runs.get(edge.to)]
    const isOver = source?.status === 'succeeded' || source?.status === 'failed'
    const mayGoOn = isOver && (source.port ?? 'out') === portOf(edge) && target?.status !== 'skipped'
    if (!mayGoOn && (isOver || source?.status === 'skipped' || target?.status === 'skipped')) left.add(edge.id)
    // A join waits for its other edges; whether a condition was true or a failure was handled is known when its target
    // has started.
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
