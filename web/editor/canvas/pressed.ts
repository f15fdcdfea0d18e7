import type { Point } from '../document/document.ts'

export type What = { kind: 'node'; id: string } | { kind: 'edge'; id: string } | { kind: 'pane' }

/** What was pressed with the right button, where on the screen and where on the canvas. */
export type Pressed = { screen: Point; at: Point } & What
