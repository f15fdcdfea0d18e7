import type { Definition, Edge, Graph, Json, JsonObject, Node } from '#model/definition'

// A typed builder for workflows written in code. It creates the same graph that a person would draw.

export const ref = (path: string): Json => ({ $ref: path })
export const cel = (expression: string): Json => ({ $cel: expression })

export type NodeOptions = Omit<Node, 'id' | 'type' | 'args'> & { after?: string | string[]; when?: string }

export function buildGraph() {
  const nodes: Node[] = []
  const edges: Edge[] = []
  let last: string | undefined

  const builder = {
    /** Adds a node after the previous node, or after the given nodes (`node` or `node:port`). */
    node(id: string, type: string, args: JsonObject, { after, when, ...rest }: NodeOptions = {}) {
      nodes.push({ id, type, args, ...rest })
      const before = after === undefined ? (last === undefined ? [] : [last]) : [after].flat()
      for (const place of before) {
        const [node, port] = place.split(':')
        edges.push({
          from: { node: node!, ...(port !== undefined && { port }) },
          to: id,
          ...(when !== undefined && { when: { $cel: when } }),
        })
      }
      last = id
      return builder
    },
    output: (output: Json): Graph => ({ nodes, edges, output }),
  }
  return builder
}

export const withInputs = (inputs: JsonObject, graph: Graph): Definition => ({ inputs, ...graph })
