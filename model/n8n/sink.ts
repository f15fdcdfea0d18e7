import type { Edge, Node } from '../definition.ts'
import type { Exit } from './flow.ts'

/** A graph under construction: the workflow, or the body of a map or loop. */
export type Sink = { nodes: Node[]; edges: Edge[] }

export function connect(sink: Sink, exits: readonly Exit[], to: string): void {
  for (const { node, port, when } of exits) {
    const isThere = sink.edges.some(
      (edge) => edge.from.node === node && edge.from.port === port && edge.to === to && edge.when?.$cel === when,
    )
    if (isThere || node === to) continue
    sink.edges.push({ from: { node, ...(port && { port }) }, to, ...(when !== undefined && { when: { $cel: when } }) })
  }
}
