import type { Point } from '../document/document.ts'
import { HEAD_HEIGHT, NODE_WIDTH } from './size.ts'

export type Box = Point & { id: string; width: number; height: number }

type Drawn = {
  id: string
  position: Point
  width?: number
  height?: number
  measured?: { width?: number; height?: number }
}

/** Returns the positions and sizes of nodes. */
export const boxesOf = (nodes: readonly Drawn[]): Box[] =>
  nodes.map(({ id, position, width, height, measured }) => ({
    id,
    ...position,
    width: measured?.width ?? width ?? NODE_WIDTH,
    height: measured?.height ?? height ?? HEAD_HEIGHT,
  }))
