import type { Graph, Node } from './definition.ts'
import type { Issue } from './issue.ts'
import { isObject } from './json.ts'
import type { NodeDescriptor } from './node.ts'

/** Returns the ports of a node: the ports of its kind, the ports of its cases, and `error` if errors are routed. */
export function portsOf(node: Node, kind: Pick<NodeDescriptor, 'ports'>): string[] {
  const cases = node.type === 'branch' && Array.isArray(node.args?.cases) ? node.args.cases : []
  const named = cases.flatMap((item) => (isObject(item) && typeof item.port === 'string' ? [item.port] : []))
  return [...named, ...kind.ports, ...(node.on_error === 'route' ? ['error'] : [])]
}

/** The conditions of a node's edges are evaluated together when the node settles. */
const MAX_CONDITIONS_PER_NODE = 50

export function checkEdges(
  graph: Graph,
  path: string,
  kinds: ReadonlyMap<string, NodeDescriptor>,
  errors: Issue[],
): void {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]))
  const ids = new Set<string>()
  const conditions = new Map<string, number>()
  for (const [index, edge] of graph.edges.entries()) {
    const where = `${path}/edges/${index}`
    if (edge.id !== undefined) {
      if (ids.has(edge.id)) errors.push({ path: `${where}/id`, message: `"${edge.id}" is used twice` })
      ids.add(edge.id)
    }
    if (!nodes.has(edge.to)) errors.push({ path: `${where}/to`, message: `there is no node "${edge.to.slice(0, 64)}"` })
    const from = nodes.get(edge.from.node)
    if (!from) {
      errors.push({ path: `${where}/from/node`, message: `there is no node "${edge.from.node.slice(0, 64)}"` })
      continue
    }
    if (edge.when) {
      const count = (conditions.get(from.id) ?? 0) + 1
      conditions.set(from.id, count)
      if (count === MAX_CONDITIONS_PER_NODE + 1) {
        errors.push({
          path: `${where}/when`,
          message: `"${from.id}" has more than ${MAX_CONDITIONS_PER_NODE} edges with a condition`,
        })
      }
    }
    const to = nodes.get(edge.to)
    if (to && (from.finally === true) !== (to.finally === true)) {
      const message =
        'a node with "finally" starts when the run ends: it can only be connected to other nodes with "finally"'
      errors.push({ path: where, message })
    }
    const kind = kinds.get(from.type)
    if (kind) checkPort(edge.from.port, from, kind, `${where}/from/port`, errors)
  }
}

function checkPort(port: string | undefined, from: Node, kind: NodeDescriptor, path: string, errors: Issue[]): void {
  const ports = portsOf(from, kind)
  if (ports.includes(port ?? 'out')) return
  if (port === 'error') {
    errors.push({ path, message: `"${from.id}" has no port "error"; set its on_error to "route"` })
    return
  }
  const known = ports.length > 0 ? `its ports are ${ports.join(', ')}` : 'no node can follow it'
  errors.push({
    path,
    message: port ? `"${from.id}" has no port "${port}"; ${known}` : `name a port of "${from.id}"; ${known}`,
  })
}
