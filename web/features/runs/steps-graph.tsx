import { Panel } from '@xyflow/react'
import { Maximize, ZoomIn, ZoomOut } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Definition } from '#model/definition'
import { useApi } from '#web/api.ts'
import type { NodeRun, Shown } from '#web/editor/canvas/flow-items.ts'
import { type Flow, GraphCanvas, INITIAL_VIEW, PREVIEW_VIEW } from '#web/editor/canvas/graph-canvas.tsx'
import { type Direction, neighbour } from '#web/editor/canvas/navigate.ts'
import { type Doc, type DocGraph, type GraphPath, graphAt, positionKey, TOP } from '#web/editor/document/document.ts'
import { openDoc } from '#web/editor/document/open.ts'
import { type Kinds, readKinds } from '#web/editor/kinds.ts'
import { IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { showNode, showStart } from '#web/ui/graph-view.ts'
import { Skeleton } from '#web/ui/states.tsx'

// A read-only workflow, drawn as in the editor: its nodes and edges, and the progress of an execution.

export type StepsGraphProps = {
  definition: Pick<Definition, 'nodes' | 'edges' | 'layout'>
  label: string
  /** The maps and loops whose body is shown, outermost first. */
  path?: GraphPath
  /** The states by node id; without it the graph shows no states. */
  runs?: ReadonlyMap<string, NodeRun>
  holds?: Shown['holds']
  /** The id of a node in the shown graph. */
  selected?: string | null
  onSelect?: (nodeId: string | null) => void
  /** Called on a second click, or Enter on the selected node. */
  onOpen?: (nodeId: string) => void
  className?: string
  children?: ReactNode
}

const NO_KINDS: Kinds = { groups: [], table: new Map() }
const NOTHING: ReadonlySet<string> = new Set()
const KEYS: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

/** Returns the node that needs attention: a failed node, otherwise a waiting or running one. */
const firstOf = ({ nodes }: DocGraph, runs: StepsGraphProps['runs']): string | undefined =>
  (['failed', 'waiting', 'running'] as const)
    .map((status) => nodes.find(({ id }) => runs?.get(id)?.status === status)?.id)
    .find((id) => id !== undefined)

/** Returns null until the kinds of nodes are loaded: the size of a node depends on its ports. */
function useDrawn(definition: StepsGraphProps['definition']): { doc: Doc; kinds: Kinds } | null {
  const { data, isPending } = useApi('getPalette', {}, { staleTime: Number.POSITIVE_INFINITY })
  const kinds = useMemo(() => (data ? readKinds(data) : isPending ? null : NO_KINDS), [data, isPending])
  const [drawn, setDrawn] = useState<{ doc: Doc; kinds: Kinds } | null>(null)
  useEffect(() => {
    let current = true
    if (kinds) void openDoc(definition, kinds.table).then((doc) => current && setDrawn({ doc, kinds }))
    return () => {
      current = false
    }
  }, [definition, kinds])
  return drawn
}

export function StepsGraph(props: StepsGraphProps) {
  const drawn = useDrawn(props.definition)
  const graph = drawn && graphAt(drawn.doc, props.path ?? TOP)
  return (
    <div className={cx('relative w-full overflow-hidden rounded-[inherit]', props.className)}>
      {drawn && graph ? (
        <Drawing key={props.path?.join('/')} {...props} {...drawn} graph={graph} />
      ) : (
        <Skeleton className="size-full" />
      )}
    </div>
  )
}

/**
 * Fits the graph into its box, or shows its start or the node that needs attention. The box can change its size after
 * the graph is ready, and the graph can be replaced when its definition is loaded: it is fitted again until the user has
 * moved it.
 */
function useSight(box: RefObject<HTMLDivElement | null>, doc: Doc, isStill: boolean, first: () => string | undefined) {
  const flow = useRef<Flow | null>(null)
  const isTouched = useRef(false)
  const wanted = useRef(first)
  wanted.current = first
  const look = useCallback((): void => {
    // The canvas updates its size in this frame.
    requestAnimationFrame(async () => {
      const { current: shown } = flow
      if (!shown || !box.current || isTouched.current) return
      await shown.fitView(isStill ? PREVIEW_VIEW : INITIAL_VIEW)
      if (!box.current) return
      showStart(shown, box.current.clientHeight)
      const id = wanted.current()
      if (id !== undefined) showNode(shown, box.current, id)
    })
  }, [box, isStill])
  useEffect(() => {
    const observer = new ResizeObserver(look)
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [box, look])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another document has its nodes at other positions
  useEffect(look, [doc, look])
  const onTouched = (): void => {
    isTouched.current = true
  }
  return { flow, look, onTouched }
}

function Drawing(props: StepsGraphProps & { doc: Doc; kinds: Kinds; graph: DocGraph }) {
  const { doc, kinds, graph, path = TOP, selected = null, onSelect, onOpen, children } = props
  const box = useRef<HTMLDivElement>(null)
  const isStill = onSelect === undefined
  const { flow, look, onTouched } = useSight(box, doc, isStill, () => selected ?? firstOf(graph, props.runs))
  const chosen = useMemo(() => (selected === null ? NOTHING : new Set([selected])), [selected])
  useEffect(() => {
    if (selected !== null && flow.current && box.current) showNode(flow.current, box.current, selected)
  }, [selected, flow])
  const placeOf = (id: string) => doc.layout.positions[positionKey(path, id)] ?? { x: 0, y: 0 }

  const onKeyDown = (event: KeyboardEvent): void => {
    const id = (event.target as HTMLElement).closest<HTMLElement>('[data-node]')?.dataset.node
    if (id === undefined || !onSelect) return
    const direction = KEYS[event.key]
    const next = direction && neighbour(graph, placeOf, id, direction)
    if (next !== undefined) {
      onSelect(next)
      box.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(next)}"]`)?.focus({ preventScroll: true })
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (id === selected) onOpen?.(id)
      else onSelect(id)
    } else if (event.key === 'Escape') onSelect(null)
    else if (!direction) return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the nodes inside, which are buttons
    <div ref={box} className="size-full" onKeyDown={onKeyDown} onPointerDown={onTouched} onWheel={onTouched}>
      <GraphCanvas
        embedded
        still={isStill}
        label={props.label}
        graph={graph}
        path={path}
        positions={doc.layout.positions}
        kinds={kinds.table}
        selected={chosen}
        selectedEdges={NOTHING}
        {...(props.runs && { runs: props.runs })}
        {...(props.holds && { holds: props.holds })}
        {...(onSelect && {
          onSelect: (nodes) => onSelect([...nodes].findLast((id) => id !== selected) ?? [...nodes][0] ?? null),
        })}
        {...(onOpen && { onOpen })}
        onReady={(instance) => {
          flow.current = instance
          look()
        }}
      >
        <Panel position="bottom-left">
          <div
            role="toolbar"
            aria-label="Graph"
            className="flex rounded-md border border-line bg-surface p-0.5 shadow-sm"
          >
            <IconButton size="small" icon={ZoomIn} label="Zoom in" onClick={() => void flow.current?.zoomIn()} />
            <IconButton size="small" icon={ZoomOut} label="Zoom out" onClick={() => void flow.current?.zoomOut()} />
            <IconButton
              size="small"
              icon={Maximize}
              label="Fit to screen"
              onClick={() => void flow.current?.fitView({ maxZoom: 1, padding: 0.1 })}
            />
          </div>
        </Panel>
        {children}
      </GraphCanvas>
    </div>
  )
}
