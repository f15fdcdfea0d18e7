import {
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './graph-view.css'
import { useEffect, useMemo } from 'react'
import type { Definition, NodeStatus } from '#model/definition'
import { cx } from '#web/ui/cx.ts'
import { showBeginning } from '#web/ui/graph-sight.ts'
import { useKindTitles } from './kind-titles.ts'
import { edgeLabel, NODE_HEIGHT, NODE_WIDTH, placeNodes } from './layout.ts'

// A workflow to look at: the steps where their author put them, coloured by how far a run has come.

export type NodeLook = { status: NodeStatus; attempt?: number; note?: string }

export type GraphViewProps = {
  definition: Pick<Definition, 'nodes' | 'edges' | 'layout'>
  label: string
  /** By node id; without it the graph has no states. */
  states?: ReadonlyMap<string, NodeLook>
  selected?: string | null
  onSelect?: (nodeId: string | null) => void
  className?: string
}

type StepData = { title: string; type: string; look: NodeLook | undefined; onOpen: (() => void) | undefined }
type StepNode = Node<StepData, 'step'>

const borders: Record<NodeStatus, string> = {
  pending: 'border-line',
  running: 'border-running bg-running-soft',
  waiting: 'border-waiting bg-waiting-soft',
  succeeded: 'border-success bg-success-soft',
  failed: 'border-danger bg-danger-soft',
  skipped: 'border-line border-dashed',
}
const words: Record<NodeStatus, string> = {
  pending: 'not started',
  running: 'running',
  waiting: 'waiting',
  succeeded: 'succeeded',
  failed: 'failed',
  skipped: 'skipped',
}

function Step({ data, selected }: NodeProps<StepNode>) {
  const { title, type, look, onOpen } = data
  const inside = (
    <>
      <span className="block truncate font-medium">{title}</span>
      <span className="flex items-center gap-1.5 truncate text-xs text-ink-2">
        <span className="truncate">{type}</span>
        {look && look.status !== 'pending' && (
          <span>
            · {words[look.status]}
            {(look.attempt ?? 1) > 1 && `, attempt ${look.attempt}`}
          </span>
        )}
      </span>
    </>
  )
  const className = cx(
    'block h-full w-full rounded-lg border-2 px-3 py-2 text-left text-sm',
    look ? borders[look.status] : 'border-line',
    !look || look.status === 'pending' || look.status === 'skipped' ? 'bg-surface' : '',
    look?.status === 'running' && 'animate-pulse',
    selected && 'ring-2 ring-accent ring-offset-2 ring-offset-canvas',
  )
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {onOpen ? (
        <button
          type="button"
          onClick={onOpen}
          aria-pressed={selected}
          className={cx(className, 'nopan pointer-events-auto')}
        >
          {inside}
        </button>
      ) : (
        <div className={className}>{inside}</div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}

const nodeTypes = { step: Step }

/** Smaller than this, names cannot be read: a large graph is rather moved than shown whole. */
const READABLE = 0.4
const FIT = { maxZoom: 1, minZoom: READABLE, padding: 0.12 }

function Canvas({ definition, label, states, selected, onSelect }: GraphViewProps) {
  const places = useMemo(() => placeNodes(definition), [definition])
  const flow = useReactFlow()
  const titleOf = useKindTitles()
  const nodes = useMemo<StepNode[]>(
    () =>
      definition.nodes.map((node) => ({
        id: node.id,
        type: 'step',
        position: places.get(node.id)!,
        width: NODE_WIDTH,
        height: NODE_HEIGHT,
        selected: node.id === selected,
        data: {
          title: node.name || node.id,
          type: titleOf(node.type),
          look: states ? (states.get(node.id) ?? { status: 'pending' }) : undefined,
          onOpen: onSelect && (() => onSelect(node.id)),
        },
      })),
    [definition, places, states, selected, onSelect, titleOf],
  )
  const edges = useMemo<Edge[]>(() => {
    const names = new Map(definition.nodes.map(({ id, name }) => [id, name || id]))
    return definition.edges.map((edge, index) => ({
      id: edge.id ?? `edge-${index}`,
      source: edge.from.node,
      target: edge.to,
      label: edgeLabel(edge),
      ariaLabel: `From ${names.get(edge.from.node)} to ${names.get(edge.to)}`,
      animated: states?.get(edge.to)?.status === 'running',
      focusable: false,
    }))
  }, [definition, states])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another graph is shown whole
  useEffect(() => {
    const frame = requestAnimationFrame(async () => {
      await flow.fitView(FIT)
      showBeginning(flow)
    })
    return () => cancelAnimationFrame(frame)
  }, [places])
  return (
    <ReactFlow
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      elementsSelectable={false}
      zoomOnScroll={false}
      preventScrolling={false}
      onlyRenderVisibleElements={definition.nodes.length > 100}
      onPaneClick={() => onSelect?.(null)}
      fitView
      fitViewOptions={FIT}
      minZoom={0.1}
      maxZoom={1.5}
      proOptions={{ hideAttribution: true }}
    >
      <Controls showInteractive={false} />
    </ReactFlow>
  )
}

export const GraphView = (props: GraphViewProps) => (
  <div className={cx('graph-view w-full', props.className)}>
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  </div>
)
