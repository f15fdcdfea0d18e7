import { Position } from '@xyflow/react'
import { t } from '#web/words/language.ts'
import type { FlowEdge, FlowNode } from '../canvas/flow-items.ts'
import { type DocGraph, type Point, positionKey, TOP } from '../document/document.ts'
import type { StartNode } from './start-card.tsx'
import type { Start } from './use-starts.ts'

// The triggers, drawn before the steps without a predecessor. They are not part of the document: their data is stored
// beside the workflow, and they cannot be dragged or selected.

export const START_PREFIX = 'start:'
const WIDTH = 200
const HEIGHT = 44
const STEP = 54
const GAP = 76
const MAX_SHOWN = 6
const MAX_ROOTS = 8

export type Lead = { nodes: FlowNode[]; edges: FlowEdge[] }

const noLead: Lead = { nodes: [], edges: [] }

export function leadOf(
  graph: DocGraph,
  positions: Readonly<Record<string, Point>>,
  starts: readonly Start[],
  onOpen: (start: Start | null) => void,
): Lead {
  const reached = new Set(graph.edges.map(({ to }) => to))
  const placed = graph.nodes.map(({ id }) => ({ id, at: positions[positionKey(TOP, id)] ?? { x: 0, y: 0 } }))
  const roots = placed.filter(({ id }) => !reached.has(id)).slice(0, MAX_ROOTS)
  const [first] = roots
  if (!first) return noLead
  const x = Math.min(...placed.map(({ at }) => at.x)) - GAP - WIDTH
  const shown = starts.slice(0, MAX_SHOWN)
  const names = starts.map(({ what }) => what).join(', ')
  const card = (id: string, row: number, start: Start | null, label: string): StartNode => ({
    id,
    type: 'start',
    position: { x, y: first.at.y + row * STEP + 6 },
    width: WIDTH,
    height: HEIGHT,
    measured: { width: WIDTH, height: HEIGHT },
    handles: [
      { id: 'out', type: 'source', position: Position.Right, x: WIDTH - 6, y: HEIGHT / 2 - 6, width: 12, height: 12 },
    ],
    draggable: false,
    selectable: false,
    focusable: false,
    data: { start, label, onOpen },
  })
  const cards = shown.map((start, row) =>
    card(`${START_PREFIX}${start.key}`, row, start, `${start.what}: ${start.detail}${start.off ? t(' (off)') : ''}`),
  )
  const add = card(`${START_PREFIX}more`, shown.length, null, `How this workflow starts: ${names}`)
  const edges = shown.flatMap((start) =>
    roots.map(({ id }) => ({
      id: `${START_PREFIX}${start.key}>${id}`,
      type: 'way' as const,
      source: `${START_PREFIX}${start.key}`,
      sourceHandle: 'out',
      target: id,
      targetHandle: 'in',
      selectable: false,
      focusable: false,
      ariaLabel: t('{0}, then {1}', [start.what, id]),
      style: { strokeDasharray: '4 4', opacity: start.off ? 0.3 : 0.6 },
      data: { label: '', problem: false, mark: undefined, taken: false, name: t('{0}, then {1}', [start.what, id]) },
    })),
  )
  // The canvas has types for steps only; cards of another `type` have their own component.
  return { nodes: [...cards, add] as unknown as FlowNode[], edges: edges as FlowEdge[] }
}

export const isLead = (id: string): boolean => id.startsWith(START_PREFIX)
