import {
  Background,
  type Connection,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  ReactFlow,
  type ReactFlowInstance,
  type ReactFlowProps,
} from '@xyflow/react'
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import type { Point } from '../document/document.ts'
import './canvas.css'
import { type FlowEdge, type FlowNode, makeFlowItems, type Shown } from './flow-items.ts'
import { colourOf } from './icons.ts'
import { NodeCard } from './node-card.tsx'
import { WayEdge } from './way-edge.tsx'

// A graph to look at, and, with the callbacks, to draw in. It holds no document: what it is given is what it shows.

const nodeTypes = { step: NodeCard }
const edgeTypes = { way: WayEdge }

export type Flow = ReactFlowInstance<FlowNode, FlowEdge>

export type GraphCanvasProps = Omit<Shown, 'moving' | 'draggable'> & {
  label: string
  onSelect?: (nodes: ReadonlySet<string>, edges: ReadonlySet<string>) => void
  onOpen?: (id: string) => void
  onReady?: (flow: Flow) => void
  /** Without these the graph can only be looked at. */
  edit?: {
    onMoved(places: Record<string, Point>): void
    onConnect(from: { node: string; port: string }, to: string): void
    mayConnect(from: { node: string; port: string }, to: string): boolean
    onReconnect(edgeId: string, from: { node: string; port: string }, to: string): void
    /** A connection drawn into the void. */
    onDangling(from: { node: string; port: string }, at: Point): void
  }
  children?: ReactNode
}

const wayOf = (connection: Pick<Connection, 'source' | 'sourceHandle'>) => ({
  node: connection.source,
  port: connection.sourceHandle ?? 'out',
})

export function GraphCanvas(props: GraphCanvasProps) {
  const { label, onSelect, onOpen, onReady, edit, children, selected, selectedEdges } = props
  const [moving, setMoving] = useState<Record<string, Point> | null>(null)
  const items = useMemo(makeFlowItems, [])
  const flow = useRef<Flow | null>(null)
  const shown: Shown = { ...props, moving, draggable: edit !== undefined }
  const nodes = items.nodes(shown)
  const edges = items.edges(shown)

  // xyflow tells of each node on its own; the last word of one gesture is what counts.
  const latest = useRef({ selected, selectedEdges })
  latest.current = { selected, selectedEdges }
  const pick = (kind: 'selected' | 'selectedEdges', changes: { id: string; selected: boolean }[]): void => {
    const next = new Set(latest.current[kind])
    for (const change of changes) change.selected ? next.add(change.id) : next.delete(change.id)
    latest.current = { ...latest.current, [kind]: next }
    onSelect?.(latest.current.selected, latest.current.selectedEdges)
  }

  const onNodesChange = (changes: NodeChange<FlowNode>[]): void => {
    const places: Record<string, Point> = {}
    for (const change of changes) if (change.type === 'position' && change.position) places[change.id] = change.position
    if (Object.keys(places).length > 0) setMoving((before) => ({ ...before, ...places }))
    const picked = changes.filter((change) => change.type === 'select')
    if (picked.length > 0) pick('selected', picked)
  }
  const onEdgesChange: ReactFlowProps<FlowNode, FlowEdge>['onEdgesChange'] = (changes) => {
    const picked = changes.filter((change) => change.type === 'select')
    if (picked.length > 0) pick('selectedEdges', picked)
  }
  const onDragStop = (): void => {
    if (moving) edit?.onMoved(moving)
    setMoving(null)
  }
  const onConnectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState): void => {
    if (!edit || state.isValid || state.toNode || state.fromHandle?.type !== 'source' || !flow.current) return
    const pointer = 'changedTouches' in event ? event.changedTouches[0] : event
    if (!pointer) return
    const at = flow.current.screenToFlowPosition({ x: pointer.clientX, y: pointer.clientY })
    edit.onDangling({ node: state.fromHandle.nodeId, port: state.fromHandle.id ?? 'out' }, at)
  }
  const begin = useCallback(
    (instance: Flow) => {
      flow.current = instance
      onReady?.(instance)
    },
    [onReady],
  )

  return (
    <ReactFlow<FlowNode, FlowEdge>
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      onInit={begin}
      onNodesChange={onNodesChange}
      onEdgesChange={onEdgesChange}
      onNodeDragStop={onDragStop}
      onSelectionDragStop={onDragStop}
      onNodeDoubleClick={(_, node) => onOpen?.(node.id)}
      onConnect={(connection) => edit?.onConnect(wayOf(connection), connection.target)}
      onConnectEnd={onConnectEnd}
      onReconnect={edit && ((edge, next) => edit.onReconnect(edge.id, wayOf(next), next.target))}
      isValidConnection={(connection) => edit?.mayConnect(wayOf(connection as Connection), connection.target) ?? false}
      nodesConnectable={edit !== undefined}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable
      // The editor has keys of its own (keys.ts); xyflow's would move nodes by accident and delete past undo.
      disableKeyboardA11y
      deleteKeyCode={null}
      multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
      onlyRenderVisibleElements
      panOnScroll
      zoomOnDoubleClick={false}
      minZoom={0.05}
      maxZoom={2}
      fitView
      fitViewOptions={{ maxZoom: 1, minZoom: 0.6, padding: 0.1 }}
    >
      <Background gap={24} size={1.5} />
      <MiniMap<FlowNode>
        pannable
        zoomable
        ariaLabel="Small map of the whole graph"
        className="max-md:hidden"
        nodeColor={(node) => colourOf(node.data.kind?.colour)}
        nodeBorderRadius={8}
        style={{ width: 160, height: 110 }}
      />
      {children}
    </ReactFlow>
  )
}
