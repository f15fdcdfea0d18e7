import type { Edge, Join, Json, JsonObject, OnError, RetryPolicy, Node as StoredNode } from '#model/definition'
import { type Cel, makeRef, plain, type Ref, type Untyped, type Value } from './values.ts'

// Workflows as code. `workflow(name)` collects nodes and edges; `definition()` returns the definition that the service
// stores.

/** A node type with its arguments, as `http.request({…})` returns it. */
export type Spec<Output = Untyped, Port extends string = string> = {
  readonly type: string
  readonly args: unknown
  readonly output?: Output
  readonly port?: Port
}

/** A node of a workflow. Later nodes read its output with `ref(node)`. */
export type Placed<Output = Untyped, Port extends string = string> = {
  readonly id: string
  readonly output?: Output
  readonly port?: Port
}

export type NodeOptions = {
  name?: string
  retry?: RetryPolicy
  timeout_s?: number
  on_error?: OnError
  join?: Join
  /** The node runs after everything else has ended, successfully or not. */
  finally?: boolean
  /** The node is skipped: its input becomes its output. */
  disabled?: boolean
  /** Nodes, or `[node, port]`, after which this node runs. The same as an edge from each of them. */
  after?: Placed | readonly [Placed, string] | readonly (Placed | readonly [Placed, string])[]
}

export type EdgeOptions<Port extends string> = { port?: Port | 'error'; when?: Cel<boolean> }

export type Definition = { nodes: StoredNode[]; edges: Edge[]; inputs?: JsonObject; output?: Json; layout?: JsonObject }

export type Graph<Input = Untyped> = {
  /** The input of the execution. */
  readonly input: Ref<Input>
  node<Output, Port extends string>(id: string, spec: Spec<Output, Port>, options?: NodeOptions): Placed<Output, Port>
  edge<Port extends string>(from: Placed<Untyped, Port>, to: Placed, options?: EdgeOptions<NoInfer<Port>>): void
  output(value: Value<Untyped>): void
}

export type Workflow<Input = Untyped> = Graph<Input> & {
  readonly name: string
  layout(layout: JsonObject): void
  definition(): Definition
}

/** The output of a node, as a typed reference. */
export const ref = <Output>({ id }: Placed<Output>): Ref<Output> =>
  makeRef(/^[A-Za-z_]\w*$/.test(id) ? `nodes.${id}.output` : `nodes[${JSON.stringify(id)}].output`)

/** The item and its index inside the body of a `map`. */
export const item = <T = Untyped>(): Ref<T> => makeRef('item')
export const index: Ref<number> = makeRef('index')
/** The output of the previous iteration of a `loop`, and the number of previous iterations. */
export const loopState = <T = Untyped>(): Ref<T> => makeRef('state')
export const turn: Ref<number> = makeRef('turn')
/** Data about the execution. */
export const execution: Ref<Untyped> = makeRef('execution')
/** A variable of the workspace. */
export const variable = <T = Untyped>(name: string): Ref<T> => makeRef(`vars.${name}`)

const isPair = (after: unknown): after is readonly [Placed, string] =>
  Array.isArray(after) && typeof after[1] === 'string'

function sourcesOf(after: NodeOptions['after']): (readonly [Placed, string?])[] {
  if (after === undefined) return []
  if (isPair(after)) return [after]
  const list = Array.isArray(after) ? (after as readonly (Placed | readonly [Placed, string])[]) : [after as Placed]
  return list.map((one) => (isPair(one) ? one : ([one as Placed] as const)))
}

function collect<Input>(): { graph: Graph<Input>; stored: { nodes: StoredNode[]; edges: Edge[]; output?: Json } } {
  const stored: { nodes: StoredNode[]; edges: Edge[]; output?: Json } = { nodes: [], edges: [] }
  const addEdge = (from: string, port: string | undefined, to: string, when?: Cel<boolean>): void =>
    void stored.edges.push({
      from: { node: from, ...(port && { port }) },
      to,
      ...(when && { when: { $cel: when.$cel } }),
    })
  const graph: Graph<Input> = {
    input: makeRef('input'),
    node(id, { type, args }, { after, ...options } = {}) {
      if (stored.nodes.some((node) => node.id === id)) throw new Error(`Two nodes have the id "${id}".`)
      const given = plain(args ?? {}) as JsonObject
      stored.nodes.push({ id, type, ...(args !== undefined && { args: given }), ...options })
      for (const [from, port] of sourcesOf(after)) addEdge(from.id, port, id)
      return { id }
    },
    edge: (from, to, { port, when } = {}) => addEdge(from.id, port, to.id, when),
    output: (value) => {
      stored.output = plain(value) as Json
    },
  }
  return { graph, stored }
}

/** Creates the body of a `map` or `loop`: a separate graph whose output is the return value of `build`. */
export function body(build: (graph: Omit<Graph, 'output'>) => unknown): Definition {
  const { graph, stored } = collect<Untyped>()
  const output = build(graph)
  return { ...stored, ...(output !== undefined && { output: plain(output) as Json }) }
}

export function workflow<Input = Untyped>(name: string, { inputs }: { inputs?: JsonObject } = {}): Workflow<Input> {
  const { graph, stored } = collect<Input>()
  let layout: JsonObject | undefined
  return {
    ...graph,
    name,
    layout(given) {
      layout = given
    },
    definition: () => structuredClone({ ...(inputs && { inputs }), ...stored, ...(layout && { layout }) }),
  }
}

/**
 * Refers to a credential, connection, dataset, channel or workflow by its name in the workspace that the workflow is
 * pushed to.
 */
export const named = (kind: string, name: string): Untyped => ({ $name: name, kind })

/** Returns a constructor of specs for one node type. */
export const define =
  <Args, Output, Port extends string>(type: string) =>
  <O = Output>(...[args]: object extends Args ? [args?: Value<Args>] : [args: Value<Args>]): Spec<O, Port> => ({
    type,
    args,
  })
