import { Panel } from '@xyflow/react'
import { type DragEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { hasBody } from '#model/body'
import type { Workflow } from '#sdk/types.generated'
import { reportPointer } from '#web/shell/presence.ts'
import { toast } from '#web/ui/toast.tsx'
import { copy, join, middleOf, paste } from '../actions.ts'
import { reconnect, refuseConnection, removeItems, setPositions } from '../document/commands.ts'
import { type DocGraph, graphAt } from '../document/document.ts'
import { addGroup } from '../document/notes.ts'
import { marksIn } from '../document/problems.ts'
import { KIND_TYPE } from '../palette/kind-tile.tsx'
import { Cursors } from '../presence/cursors.tsx'
import type { PresentUser } from '../presence/use-presence.ts'
import { draggedKind } from '../services/service-kinds.ts'
import { Starts } from '../starts/starts.tsx'
import { useLead } from '../starts/use-lead.tsx'
import { type EditorStore, useEditor, useEditorStore, useGraph } from '../store.ts'
import { useProblems } from '../use-problems.ts'
import { boxesOf } from './boxes.ts'
import { Breadcrumb } from './breadcrumb.tsx'
import { CanvasControls, FIT } from './canvas-controls.tsx'
import { CanvasMenu, insertInto } from './canvas-menu.tsx'
import { dropAt } from './drop.ts'
import { EdgePlus } from './edge-plus.tsx'
import { EmptyCanvas } from './empty-canvas.tsx'
import type { NodeRun } from './flow-items.ts'
import { type Flow, GraphCanvas, type GraphCanvasProps } from './graph-canvas.tsx'
import { Notes } from './notes.tsx'
import type { RightClick } from './right-click.ts'
import { NODE_WIDTH } from './size.ts'

/** The canvas of the open document: edits on the canvas become changes of the document. */
export function EditorCanvas({
  flow,
  workflow,
  people,
}: {
  flow: RefObject<Flow | null>
  workflow: Workflow
  people: readonly PresentUser[]
}) {
  const store = useEditorStore()
  const drawn = useGraph()
  const path = useEditor((state) => state.path)
  const selection = useEditor((state) => state.selection)
  const comparison = useEditor((state) => state.comparison)
  const readOnly = useEditor((state) => state.readOnly)
  const execution = useEditor((state) => state.execution)
  const own = useEditor((state) => state.history.present.layout.positions)
  const problems = useProblems()
  const box = useRef<HTMLDivElement>(null)
  const [pressed, setPressed] = useState<RightClick | null>(null)
  const [hovered, setHovered] = useState<string | null>(null)

  const compared = comparison && (graphAt(comparison.doc, path) as DocGraph | undefined)
  const graph = compared ?? drawn
  const marks = useMemo(() => marksIn(problems, path), [problems, path])
  const runs = useMemo(() => {
    if (!execution || path.length > 0) return undefined
    return new Map<string, NodeRun>(execution.nodes.map((node) => [node.node_id, node]))
  }, [execution, path])
  const edit = useMemo(() => makeEdit(store), [store])
  const starting = useLead(workflow, drawn, own)
  const onReady = useCallback(
    (instance: Flow) => {
      flow.current = instance
    },
    [flow],
  )
  useFocusRequests(flow, box)
  useClipboard(box)

  const onDrop = (event: DragEvent): void => {
    const kind = draggedKind(store.kinds.table, event.dataTransfer.getData(KIND_TYPE))
    if (!kind || !flow.current) return
    event.preventDefault()
    dropAt(store, flow.current, kind, { x: event.clientX, y: event.clientY })
  }
  return (
    <div
      ref={box}
      data-canvas
      role="application"
      aria-label={path.length > 0 ? 'Loop body canvas' : 'Canvas'}
      aria-describedby="editor-keys"
      tabIndex={graph.nodes.length === 0 ? 0 : -1}
      className="relative min-h-0 flex-1 outline-none"
      onDragOver={(event) => event.dataTransfer.types.includes(KIND_TYPE) && event.preventDefault()}
      onDrop={onDrop}
      onPointerMove={(event) => {
        if (people.length === 0 || !flow.current) return
        const { x, y } = flow.current.screenToFlowPosition({ x: event.clientX, y: event.clientY })
        reportPointer({ x: Math.round(x), y: Math.round(y), path: path.join('/') })
      }}
    >
      <p id="editor-keys" className="sr-only">
        Arrow keys go from node to node, slash adds a node, C connects, question mark lists all keys.
      </p>
      <GraphCanvas
        key={`${path.join('/')}${comparison ? ' compared' : ''}`}
        label="Nodes and connections"
        graph={graph}
        path={path}
        positions={comparison ? comparison.doc.layout.positions : own}
        kinds={store.kinds.table}
        selected={selection.nodes}
        selectedEdges={selection.edges}
        runs={comparison ? undefined : runs}
        problems={comparison ? undefined : marks}
        marks={path.length === 0 ? comparison?.nodes : undefined}
        edgeMarks={path.length === 0 ? comparison?.edges : undefined}
        onReady={onReady}
        onSelect={(nodes, edges) => store.set({ selection: { nodes, edges } })}
        onOpen={(id) => open(store, id)}
        onHoverEdge={setHovered}
        onMenu={(what) => {
          if (what.kind === 'node' && !selection.nodes.has(what.id)) store.select([what.id])
          setPressed(what)
        }}
        edit={readOnly || comparison ? undefined : edit}
        lead={starting.lead}
      >
        <Notes />
        <Cursors people={people} />
        {!(readOnly || comparison) && <EdgePlus hovered={hovered} onInsert={(id) => insertInto(store, id)} />}
        <Panel position="top-left">
          <Breadcrumb />
          {starting.isShown && (
            <Starts starts={starting.starts} alsoWide={graph.nodes.length === 0} onOpen={() => starting.open(null)} />
          )}
        </Panel>
        <Panel position="bottom-left">
          <CanvasControls flow={flow} />
        </Panel>
      </GraphCanvas>
      <CanvasMenu
        pressed={pressed}
        onClose={() => setPressed(null)}
        onFit={() => void flow.current?.fitView(FIT)}
        onGroup={() => groupSelected(store, flow.current)}
      />
      {graph.nodes.length === 0 && !comparison && <EmptyCanvas />}
      {starting.dialog}
    </div>
  )
}

/** Adds a frame around the selected nodes. */
export function groupSelected(store: EditorStore, flow: Flow | null): void {
  const { selection, path } = store.get()
  const boxes = boxesOf(flow?.getNodes() ?? []).filter(({ id }) => selection.nodes.has(id))
  store.change((doc) => addGroup(doc, path, boxes)?.doc ?? doc)
}

export function open(store: EditorStore, id: string): void {
  const type = store.graph().nodes.find((node) => node.id === id)?.type
  if (type !== undefined && hasBody(type) && !store.get().comparison) {
    store.open([...store.get().path, id])
    store.set({ focus: '' })
  } else focusInspector()
}

export function focusInspector(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('[data-inspector] :is(input,textarea,select):not([disabled])')?.focus(),
  )
}

const makeEdit = (store: EditorStore): NonNullable<GraphCanvasProps['edit']> => ({
  onMoved: (places) => store.change((doc) => setPositions(doc, store.get().path, places)),
  onConnect: (from, to) => {
    const refused = join(store, from, to)
    if (refused) toast.tell(refused)
  },
  mayConnect: (from, to) => refuseConnection(store.graph(), from, to) === null,
  onReconnect: (edgeId, from, to) => store.change((doc) => reconnect(doc, store.get().path, edgeId, from, to)),
  onDangling: (after, at) => store.set({ quick: { mode: 'add', after, at: { x: at.x, y: at.y - 28 } } }),
})

/** Scrolls to a node and focuses it; nodes outside the view are not in the DOM at first. */
function useFocusRequests(flow: RefObject<Flow | null>, box: RefObject<HTMLDivElement | null>): void {
  const store = useEditorStore()
  const wanted = useEditor((state) => state.focus)
  useEffect(() => {
    if (wanted === null) return
    let tries = 40
    let frame = 0
    const attempt = (): void => {
      const canvas = box.current
      if (!canvas) return
      // The user has already opened the next list; its field has the focus.
      if (store.get().quick) {
        store.set({ focus: null })
        return
      }
      const target = wanted === '' ? canvas : canvas.querySelector<HTMLElement>(`[data-node="${CSS.escape(wanted)}"]`)
      if (wanted !== '' && !isInSight(flow.current, canvas, middleOf(store, wanted))) {
        bringIntoSight(flow.current, canvas, middleOf(store, wanted))
      }
      target?.focus({ preventScroll: true })
      // The focused element was removed and the node is not drawn yet: without this, a key pressed now would be lost.
      if (!target && document.activeElement === document.body) canvas.focus({ preventScroll: true })
      // A closing dialog keeps the focus for a few frames.
      const done = target !== null && document.activeElement === target
      if (done || tries-- <= 0) store.set({ focus: null })
      else frame = requestAnimationFrame(attempt)
    }
    attempt()
    return () => cancelAnimationFrame(frame)
  }, [wanted, store, flow, box])
}

/** Shows the whole graph if it is still readable, otherwise centers the node. */
function bringIntoSight(flow: Flow | null, canvas: HTMLElement, point: { x: number; y: number }): void {
  if (!flow) return
  const zoom = flow.getZoom()
  const { width, height } = flow.getNodesBounds(flow.getNodes())
  const fitting = Math.min(canvas.clientWidth / (width * 1.2), canvas.clientHeight / (height * 1.2))
  if (fitting > 0.6) void flow.fitView({ maxZoom: zoom, padding: 0.1 })
  else void flow.setCenter(point.x, point.y, { zoom })
}

function isInSight(flow: Flow | null, canvas: HTMLElement, point: { x: number; y: number }): boolean {
  if (!flow) return true
  const at = flow.flowToScreenPosition(point)
  const { left, right, top, bottom } = canvas.getBoundingClientRect()
  // The whole width must be visible, not only the middle; on a canvas narrower than a node, the middle is enough.
  const beside = Math.min((NODE_WIDTH / 2) * flow.getZoom() + 12, (right - left) / 2 - 1)
  return at.x >= left + beside && at.x <= right - beside && at.y > top + 40 && at.y < bottom - 40
}

/** Handles the browser's copy, cut and paste while the canvas has the focus. */
function useClipboard(box: RefObject<HTMLDivElement | null>): void {
  const store = useEditorStore()
  useEffect(() => {
    const isOurs = (): boolean => {
      const active = document.activeElement
      return active === document.body || (box.current?.contains(active) ?? false)
    }
    const take = (event: ClipboardEvent, cut: boolean): void => {
      const text = isOurs() ? copy(store) : null
      if (text === null) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
      const { nodes, edges } = store.get().selection
      if (cut) store.change((doc) => removeItems(doc, store.get().path, nodes, edges))
    }
    const onCopy = (event: ClipboardEvent): void => take(event, false)
    const onCut = (event: ClipboardEvent): void => take(event, true)
    const onPaste = (event: ClipboardEvent): void => {
      if (!isOurs() || !paste(store, event.clipboardData?.getData('text/plain') ?? '')) return
      event.preventDefault()
    }
    document.addEventListener('copy', onCopy)
    document.addEventListener('cut', onCut)
    document.addEventListener('paste', onPaste)
    return () => {
      document.removeEventListener('copy', onCopy)
      document.removeEventListener('cut', onCut)
      document.removeEventListener('paste', onPaste)
    }
  }, [store, box])
}
