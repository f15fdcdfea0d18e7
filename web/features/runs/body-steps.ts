import { bodyOf } from '#model/body'
import type { Definition, Graph, JsonObject, Node } from '#model/definition'
import type { NodePath } from '#model/node-path'

// Nodes inside the bodies of maps and loops, found by their address in an execution.

/** Returns the graph inside these maps and loops; undefined if one of them does not exist. */
export function bodyAt(
  definition: Pick<Definition, 'nodes'>,
  bodies: NodePath['bodies'],
): Pick<Graph, 'nodes'> | undefined {
  let graph: Pick<Graph, 'nodes'> | undefined = definition
  for (const step of bodies) {
    const node: Node | undefined = graph?.nodes.find(({ id }) => id === step.node)
    const body: JsonObject | undefined = node && bodyOf(node)
    graph = body && Array.isArray(body.nodes) ? (body as unknown as Graph) : undefined
  }
  return graph
}

export const nodeAt = (definition: Pick<Definition, 'nodes'>, { bodies, node }: NodePath): Node | undefined =>
  bodyAt(definition, bodies)?.nodes.find(({ id }) => id === node)

/** Returns the id of the first node in the body of a map or loop; undefined for other nodes and empty bodies. */
export function firstInside(node: Node): string | undefined {
  const body = bodyOf(node) as unknown as Graph | undefined
  if (!body || !Array.isArray(body.nodes)) return undefined
  const reached = new Set((body.edges ?? []).map(({ to }) => to))
  return (body.nodes.find(({ id }) => !reached.has(id)) ?? body.nodes[0])?.id
}
