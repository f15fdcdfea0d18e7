import {
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { type MouseEvent as ReactMouseEvent, type ReactNode, useMemo, useRef, useState } from 'react'
import { MIN_READABLE_ZOOM, showStart } from '#web/ui/graph-view.ts'
import type { Point } from '../document/document.ts'
import './canvas.css'
import { t } from '#web/words/language.ts'
import { isLead, type Lead } from '../starts/lead.ts'
import { StartCard } from '../starts/start-card.tsx'
import { ConnectionEdge } from './connection-edge.tsx'
import { WatchView, ZoomedOut } from './detail.tsx'
import { Dots } from './dots.tsx'
import { type FlowEdge, type FlowNode, makeFlowItems, type Shown } from './flow-items.ts'
import { colourOf } from './icons.ts'
import { NodeCard } from './node-card.tsx'
import type { CanvasTarget, RightClick } from './right-click.ts'
import { ZoomedOutEdges } from './zoomed-out-edges.tsx'

// A graph to view and, with the callbacks, to edit. It stores no document: it shows only its props.

const nodeTypes = { step: NodeCard, start: StartCard }
const edgeTypes = { way: ConnectionEdge }

export type Flow = ReactFlowInstance<FlowNode, FlowEdge>

export type GraphCanvasProps = Omit<Shown, 'moving' | 'draggable'> & {
  label: string
  onSelect?: (nodes: ReadonlySet<string>, edges: ReadonlySet<string>) => void
  onOpen?: (id: string) => void
  onReady?: (flow: Flow) => void
  /** A right click on a node, an edge or the canvas. */
  onMenu?: (pressed: RightClick) => void
  /** The edge under the pointer. */
  onHoverEdge?: (id: string | null) => void
  /** Without these callbacks the graph is read-only. */
  edit?: {
    onMoved(places: Record<string, Point>): void
    onConnect(from: { node: string; port: string }, to: string): void
    mayConnect(from: { node: string; port: string }, to: string): boolean
    onReconnect(edgeId: string, from: { node: string; port: string }, to: string): void
    /** A connection that was drawn to an empty place. */
    onDangling(from: { node: string; port: string }, at: Point): void
  }
  /** The graph is one of several parts of a page: the wheel scrolls the page. */
  embedded?: boolean
  /** Content before the first steps that is not part of the graph. */
  lead?: Lead | undefined
  children?: ReactNode
}

const wayOf = (connection: Pick<Connection, 'source' | 'sourceHandle'>) => ({
  node: connection.source,
  port: connection.sourceHandle ?? 'out',
})

/**
 * Creates the handlers once: a new function for each render would make xyflow redraw all 500 nodes. The handlers read
 * the current props.
 */
function makeHandlers(
  current: { props: GraphCanvasProps; moving: Moving; box: HTMLDivElement | null },
  setMoving: (moving: Moving) => void,
) {
  let flow: Flow | null = null
  const pick = (kind: 'selected' | 'selectedEdges', changes: readonly (NodeChange | EdgeChange)[]): void => {
    const next = new Set(current.props[kind])
    for (const change of changes) {
      if (change.type !== 'select') continue
      if (change.selected) next.add(change.id)
      else next.delete(change.id)
    }
    // xyflow reports nodes and edges separately; the second report of one gesture must include the first.
    current.props = { ...current.props, [kind]: next }
    current.props.onSelect?.(current.props.selected, current.props.selectedEdges)
  }
  const hasPicked = (changes: readonly { type: string }[]): boolean => changes.some(({ type }) => type === 'select')
  const move = (moving: Moving): void => {
    current.moving = moving
    setMoving(moving)
  }
  const menu = (event: MouseEvent | ReactMouseEvent, what: CanvasTarget): void => {
    if (!flow || !current.props.onMenu) return
    event.preventDefault()
    const screen = { x: event.clientX, y: event.clientY }
    current.props.onMenu({ ...what, screen, at: flow.screenToFlowPosition(screen) })
  }
  return {
    onBox(box: HTMLDivElement | null): void {
      current.box = box
    },
    onInit(instance: Flow): void {
      flow = instance
      showStart(instance, current.box?.clientHeight ?? 0)
      current.props.onReady?.(instance)
    },
    onNodesChange(changes: NodeChange<FlowNode>[]): void {
      const places: Record<string, Point> = {}
      for (const change of changes)
        if (change.type === 'position' && change.position) places[change.id] = change.position
      if (Object.keys(places).length > 0) move({ ...current.moving, ...places })
      if (hasPicked(changes)) pick('selected', changes as NodeChange[])
    },
    onEdgesChange(changes: EdgeChange<FlowEdge>[]): void {
      if (hasPicked(changes)) pick('selectedEdges', changes as EdgeChange[])
    },
    onDragStop(): void {
      if (current.moving) current.props.edit?.onMoved(current.moving)
      move(null)
    },
    onNodeContextMenu: (event: ReactMouseEvent, node: FlowNode): void => {
      if (!isLead(node.id)) menu(event, { kind: 'node', id: node.id })
    },
    onEdgeContextMenu: (event: ReactMouseEvent, edge: FlowEdge): void => {
      if (!isLead(edge.id)) menu(event, { kind: 'edge', id: edge.id })
    },
    onPaneContextMenu: (event: MouseEvent | ReactMouseEvent): void => menu(event, { kind: 'pane' }),
    onEdgeMouseEnter: (_event: unknown, edge: FlowEdge): void => {
      if (!isLead(edge.id)) current.props.onHoverEdge?.(edge.id)
    },
    onEdgeMouseLeave: (): void => current.props.onHoverEdge?.(null),
    onNodeDoubleClick: (_event: unknown, node: FlowNode): void => {
      if (!isLead(node.id)) current.props.onOpen?.(node.id)
    },
    onConnect: (connection: Connection): void => current.props.edit?.onConnect(wayOf(connection), connection.target),
    onConnectEnd(event: MouseEvent | TouchEvent, state: FinalConnectionState): void {
      const pointer = 'changedTouches' in event ? event.changedTouches[0] : event
      if (!flow || !pointer || state.isValid || state.toNode || state.fromHandle?.type !== 'source') return
      const at = flow.screenToFlowPosition({ x: pointer.clientX, y: pointer.clientY })
      current.props.edit?.onDangling({ node: state.fromHandle.nodeId, port: state.fromHandle.id ?? 'out' }, at)
    },
    onReconnect: (edge: FlowEdge, next: Connection): void =>
      current.props.edit?.onReconnect(edge.id, wayOf(next), next.target),
    isValidConnection: (connection: Connection | FlowEdge): boolean =>
      current.props.edit?.mayConnect(wayOf(connection as Connection), connection.target) ?? false,
  }
}

type Moving = Record<string, Point> | null

const NO_EDGES: FlowEdge[] = []
const PLAIN = { hideAttribution: true }
const SEVERAL = ['Shift', 'Meta', 'Control']
export const INITIAL_VIEW = { maxZoom: 1, minZoom: MIN_READABLE_ZOOM, padding: 0.1 }
/** A preview shows the shape of a graph, not its text. */
export const PREVIEW_VIEW = { ...INITIAL_VIEW, minZoom: 0.45 }
/**
 * The number of nodes up to which all of them stay in the DOM. Nodes that enter the DOM while the view moves cost every
 * second frame; rendering all of them costs half a second at the start.
 */
const KEPT_IN_PAGE = 600
/** A graph with fewer nodes needs no map. */
const WORTH_A_MAP = 10
const MAP_SIZE = { width: 160, height: 110 }
const mapColour = (node: FlowNode): string => colourOf(node.data.kind?.colour)

export function GraphCanvas(props: GraphCanvasProps) {
  const { label, edit, embedded = false, children } = props
  const [moving, setMoving] = useState<Moving>(null)
  const [far, setFar] = useState(false)
  const items = useMemo(makeFlowItems, [])
  const current = useRef({ props, moving, box: null as HTMLDivElement | null })
  current.current.props = props
  current.current.moving = moving
  const handlers = useMemo(() => makeHandlers(current.current, setMoving), [])
  const shown: Shown = { ...props, moving, draggable: edit !== undefined }
  const [nodes, edges] = [items.nodes(shown), items.edges(shown)]
  const { lead } = props
  const allNodes = useMemo(() => (lead ? [...nodes, ...lead.nodes] : nodes), [lead, nodes])
  const allEdges = useMemo(() => (lead ? [...edges, ...lead.edges] : edges), [lead, edges])
  return (
    <ZoomedOut value={far}>
      <ReactFlow<FlowNode, FlowEdge>
        ref={handlers.onBox}
        aria-label={label}
        nodes={allNodes}
        edges={far ? NO_EDGES : allEdges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={handlers.onInit}
        onNodesChange={handlers.onNodesChange}
        onEdgesChange={handlers.onEdgesChange}
        onNodeDragStop={handlers.onDragStop}
        onSelectionDragStop={handlers.onDragStop}
        onNodeDoubleClick={handlers.onNodeDoubleClick}
        onNodeContextMenu={handlers.onNodeContextMenu}
        onEdgeContextMenu={handlers.onEdgeContextMenu}
        onPaneContextMenu={handlers.onPaneContextMenu}
        onEdgeMouseEnter={handlers.onEdgeMouseEnter}
        onEdgeMouseLeave={handlers.onEdgeMouseLeave}
        onConnect={handlers.onConnect}
        onConnectEnd={handlers.onConnectEnd}
        onReconnect={edit && handlers.onReconnect}
        isValidConnection={handlers.isValidConnection}
        nodesConnectable={edit !== undefined}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable
        // The editor has its own keys (keys.ts); xyflow's keys would move nodes by accident and delete without undo.
        disableKeyboardA11y
        deleteKeyCode={null}
        multiSelectionKeyCode={SEVERAL}
        onlyRenderVisibleElements={nodes.length > KEPT_IN_PAGE}
        panOnScroll={!embedded}
        zoomOnScroll={!embedded}
        preventScrolling={!embedded}
        zoomOnDoubleClick={false}
        minZoom={0.05}
        maxZoom={2}
        proOptions={PLAIN}
        fitView
        fitViewOptions={props.still ? PREVIEW_VIEW : INITIAL_VIEW}
      >
        {!far && <Dots />}
        <WatchView onFar={setFar} />
        {far && <ZoomedOutEdges nodes={nodes} edges={edges} />}
        {nodes.length >= WORTH_A_MAP && (
          <MiniMap<FlowNode>
            pannable
            zoomable
            ariaLabel={t('Minimap')}
            className="max-md:hidden"
            nodeColor={mapColour}
            nodeBorderRadius={8}
            style={MAP_SIZE}
          />
        )}
        {children}
      </ReactFlow>
    </ZoomedOut>
  )
}
