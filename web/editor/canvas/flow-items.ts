import { Position, type Edge as XEdge, type Node as XNode } from '@xyflow/react'
import type { Node } from '#model/definition'
import type { Execution } from '#sdk/types.generated'
import type { Mark } from '../document/compare.ts'
import {
  type DocGraph,
  type GraphPath,
  type KeyedEdge,
  type Point,
  portOf,
  positionKey,
  titleOf,
} from '../document/document.ts'
import type { Problem } from '../document/problems.ts'
import type { Kind, KindTable } from '../kinds.ts'
import { edgesTaken, type TakenEdges } from './edges-taken.ts'
import { HEAD_HEIGHT, namedPorts, PORT_HEIGHT, sizeOfNode } from './size.ts'

// The document as the canvas draws it. Unchanged items keep their identity, so that a change of one node redraws only
// that node, out of 500.

/** The state of a node in an execution; without the output for a node inside a body. */
export type NodeRun = Execution['nodes'][number]
export type NodeData = {
  node: Node
  kind: Kind | undefined
  /** Ports that are drawn with their names. */
  ports: readonly string[]
  /** The node has one port without a name. */
  plainOut: boolean
  run: NodeRun | undefined
  problem: Problem['level'] | undefined
  mark: Mark | undefined
  /** The only node that the Tab key reaches; the arrow keys move to the others. */
  tabStop: boolean
  /** A click on the node does nothing. */
  still: boolean
}
export type FlowNode = XNode<NodeData, 'step'>
export type EdgeData = {
  label: string
  problem: boolean
  mark: Mark | undefined
  /** Whether the shown execution took this edge; undefined if that is not decided or no execution is shown. */
  taken: boolean | undefined
  name: string
}
export type FlowEdge = XEdge<EdgeData, 'way'>

export type Shown = {
  graph: DocGraph
  path: GraphPath
  positions: Readonly<Record<string, Point>>
  kinds: KindTable
  selected: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
  runs?: ReadonlyMap<string, NodeRun>
  /** Returns the result of a condition in the shown execution, if it is known. */
  holds?: (edge: KeyedEdge) => boolean | undefined
  problems?: ReadonlyMap<string, Problem['level']>
  marks?: ReadonlyMap<string, Mark>
  edgeMarks?: ReadonlyMap<string, Mark>
  /** Positions of nodes that are being dragged. */
  moving?: Readonly<Record<string, Point>> | null
  draggable: boolean
  still?: boolean
}

const DOT = 12

/**
 * The positions of the dots, computed in advance: edges to nodes outside the view are drawn without measuring the dots.
 */
const handlesOf = (width: number, ports: readonly string[], plainOut: boolean): NonNullable<FlowNode['handles']> => {
  const dot = { width: DOT, height: DOT }
  const right = width - DOT / 2
  const sources = [
    ...(plainOut ? [{ id: 'out', y: HEAD_HEIGHT / 2 - DOT / 2 }] : []),
    ...ports.map((id, index) => ({ id, y: HEAD_HEIGHT + index * PORT_HEIGHT + PORT_HEIGHT / 2 - DOT / 2 })),
  ]
  return [
    { id: 'in', type: 'target', position: Position.Left, x: -DOT / 2, y: HEAD_HEIGHT / 2 - DOT / 2, ...dot },
    ...sources.map(({ id, y }) => ({ id, type: 'source' as const, position: Position.Right, x: right, y, ...dot })),
  ]
}

export function makeFlowItems() {
  let nodes = new Map<string, FlowNode>()
  let edges = new Map<string, FlowEdge>()
  let nodeList: FlowNode[] = []
  let edgeList: FlowEdge[] = []
  const waysOf = makeWays()
  return {
    nodes(shown: Shown): FlowNode[] {
      const { selected } = shown
      const stop = shown.graph.nodes.find(({ id }) => selected.has(id))?.id ?? shown.graph.nodes[0]?.id
      const next = new Map<string, FlowNode>()
      for (const node of shown.graph.nodes) {
        next.set(node.id, reuse(nodes.get(node.id), drawNode(node, shown, node.id === stop)))
      }
      nodes = next
      nodeList = sameList(nodeList, [...next.values()])
      return nodeList
    },
    edges(shown: Shown): FlowEdge[] {
      const titles = new Map(shown.graph.nodes.map((node) => [node.id, titleOf(node)]))
      const next = new Map<string, FlowEdge>()
      const ways = waysOf(shown)
      for (const edge of shown.graph.edges) {
        if (!titles.has(edge.from.node) || !titles.has(edge.to)) continue
        next.set(edge.id, reuse(edges.get(edge.id), drawEdge(edge, shown, titles, ways)))
      }
      edges = next
      edgeList = sameList(edgeList, [...next.values()])
      return edgeList
    },
  }
}

/** Computes the taken edges again when the graph or the execution has changed, not while a node is dragged. */
function makeWays(): (shown: Shown) => TakenEdges | undefined {
  let known: { from: readonly unknown[]; ways: TakenEdges } | undefined
  return ({ graph, runs, holds }) => {
    if (!runs) return undefined
    const from = [graph.edges, runs, holds]
    if (!known?.from.every((part, at) => part === from[at])) known = { from, ways: edgesTaken(graph, runs, holds) }
    return known.ways
  }
}

const sameList = <Item>(old: Item[], next: Item[]): Item[] =>
  old.length === next.length && old.every((item, at) => item === next[at]) ? old : next

const ORIGIN: Point = { x: 0, y: 0 }

function drawNode(node: Node, shown: Shown, tabStop: boolean): FlowNode {
  const kind = shown.kinds.get(node.type)
  const ports = namedPorts(node, kind)
  const size = sizeOfNode(node, kind)
  const plainOut = ports.length === 0 && kind?.ports.length !== 0
  return {
    id: node.id,
    type: 'step',
    position: shown.moving?.[node.id] ?? shown.positions[positionKey(shown.path, node.id)] ?? ORIGIN,
    ...size,
    // Computed, not measured, so that nodes outside the view also count when the whole graph is fitted into the view.
    measured: size,
    handles: handlesOf(size.width, ports, plainOut),
    selected: shown.selected.has(node.id),
    draggable: shown.draggable,
    data: {
      node,
      kind,
      ports,
      plainOut,
      run: shown.runs?.get(node.id),
      problem: shown.problems?.get(node.id),
      mark: shown.marks?.get(node.id),
      tabStop,
      still: shown.still ?? false,
    },
  }
}

function drawEdge(
  edge: KeyedEdge,
  shown: Shown,
  titles: ReadonlyMap<string, string>,
  ways: TakenEdges | undefined,
): FlowEdge {
  const taken = ways?.taken.has(edge.id) ? true : ways?.left.has(edge.id) ? false : undefined
  const name = `${titles.get(edge.from.node)} to ${titles.get(edge.to)}`
  return {
    id: edge.id,
    type: 'way',
    source: edge.from.node,
    sourceHandle: portOf(edge),
    target: edge.to,
    targetHandle: 'in',
    selected: shown.selectedEdges.has(edge.id),
    data: {
      label: edge.when?.$cel ?? '',
      problem: shown.problems?.has(edge.id) ?? false,
      mark: shown.edgeMarks?.get(edge.id),
      taken,
      name,
    },
    ariaLabel: taken === undefined ? name : taken ? `${name}, taken` : `${name}, not taken`,
  }
}

/** Returns the old object if the new one would look the same. */
function reuse<Item extends FlowNode | FlowEdge>(old: Item | undefined, next: Item): Item {
  return old !== undefined && sameItem(old, next) ? old : next
}

function sameItem(a: FlowNode | FlowEdge, b: FlowNode | FlowEdge): boolean {
  for (const key of Object.keys(b) as (keyof typeof b)[]) {
    if (key === 'data' || key === ('handles' as never) || key === ('measured' as never)) continue
    if (key === ('position' as never)) {
      const [p, q] = [(a as FlowNode).position, (b as FlowNode).position]
      if (p.x !== q.x || p.y !== q.y) return false
    } else if (a[key] !== b[key]) return false
  }
  const [before, after] = [a.data as Record<string, unknown>, b.data as Record<string, unknown>]
  return Object.keys(after).every((key) => {
    const [old, now] = [before[key], after[key]]
    if (Array.isArray(old) && Array.isArray(now))
      return old.length === now.length && old.every((item, at) => item === now[at])
    return old === now
  })
}
