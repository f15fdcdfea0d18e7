import type { Node } from '#model/definition'
import { portsOf } from '#model/graph-edges'
import type { Kind } from '../kinds.ts'

// The size of a node is computed from its kind and ports, so that a graph is laid out and drawn without measuring it
// first.

export type NodeSize = { width: number; height: number }

export const NODE_WIDTH = 224
export const HEAD_HEIGHT = 56
export const PORT_HEIGHT = 22

/** Returns the ports that are drawn with a name; a single `out` is a dot at the side of the head. */
export const namedPorts = (node: Node, kind: Pick<Kind, 'ports'> | undefined): string[] => {
  const ports = kind ? portsOf(node, kind) : ['out']
  return ports.length === 1 && ports[0] === 'out' ? [] : ports
}

export const sizeOfNode = (node: Node, kind: Pick<Kind, 'ports'> | undefined): NodeSize => {
  const ports = namedPorts(node, kind).length
  return { width: NODE_WIDTH, height: HEAD_HEIGHT + (ports === 0 ? 0 : ports * PORT_HEIGHT + 6) }
}
