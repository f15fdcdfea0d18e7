import { add } from '../actions.ts'
import type { Kind } from '../kinds.ts'
import type { EditorStore } from '../store.ts'
import type { Flow } from './graph-canvas.tsx'

/** Puts a node where it was let go of on the canvas; false where it could not be. */
export function dropAt(store: EditorStore, flow: Flow | null, kind: Kind, on: { x: number; y: number }): boolean {
  if (!flow) return false
  const { x, y } = flow.screenToFlowPosition(on)
  const id = add(store, kind, { at: { x: x - 112, y: y - 28 } })
  if (id === undefined) return false
  store.set({ focus: id })
  return true
}
