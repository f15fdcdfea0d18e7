import { add } from '../actions.ts'
import type { Kind } from '../kinds.ts'
import type { EditorStore } from '../store.ts'
import type { Flow } from './graph-canvas.tsx'

/** Adds a node where it was dropped on the canvas; returns false if that is not possible. */
export function dropAt(store: EditorStore, flow: Flow | null, kind: Kind, on: { x: number; y: number }): boolean {
  if (!flow) return false
  const { x, y } = flow.screenToFlowPosition(on)
  const id = add(store, kind, { at: { x: x - 112, y: y - 28 } })
  if (id === undefined) return false
  store.set({ focus: id })
  return true
}
