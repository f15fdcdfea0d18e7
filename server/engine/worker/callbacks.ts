import type { Graph } from '#model/definition'
import type { Context } from '../interpreter/context.ts'

const waiting = new WeakMap<Graph, readonly string[]>()

const waitingIn = (graph: Graph): readonly string[] => {
  const known = waiting.get(graph)
  if (known) return known
  const found = graph.nodes.filter(({ type }) => type === 'wait.event').map(({ id }) => id)
  waiting.set(graph, found)
  return found
}

/**
 * Returns the addresses of the `wait.event` nodes of a graph. An address is signed only when an expression reads it.
 */
export function callbacksIn(graph: Graph, prefix: string, urlOf: (path: string) => string): Pick<Context, 'callbacks'> {
  const ids = waitingIn(graph)
  if (ids.length === 0) return {}
  const entries = ids.map((id) => [
    id,
    {
      get url() {
        return urlOf(prefix + id)
      },
    },
  ])
  return { callbacks: Object.fromEntries(entries) }
}
