import type { Point } from '../document/document.ts'

export type CanvasTarget = { kind: 'node'; id: string } | { kind: 'edge'; id: string } | { kind: 'pane' }

/** The target of a right click, with its position on the screen and on the canvas. */
export type RightClick = { screen: Point; at: Point } & CanvasTarget
