import type { Graph, Json, JsonObject, Node } from '#model/definition'
import { ExpressionFailure } from '#model/expressions'
import { isObject } from '#model/json'
import { type BodyStep, parsePath, rowsOf } from '#model/node-path'
import { jsonSize, MAX_SHOWN_SIZE } from '#model/size'
import type { Database, Tx } from '#platform/db/pool'
import { pageRows } from '#platform/http/page'
import { MASK } from '#platform/outgoing/mask'
import { makeWorkspaceTurns } from '#platform/workspace-turns'
import type { Blobs } from '#providers/blobs/index'
import type { AreaCalls } from './area-calls.ts'
import type { LoadDefinition } from './definitions.ts'
import { argsOf } from './interpreter/activate.ts'
import { loopArgs, mapArgs } from './interpreter/commands.ts'
import type { Context } from './interpreter/context.ts'
import { compile } from './interpreter/graph.ts'
import { openPass, UNLIMITED } from './interpreter/pass.ts'
import { scopeAt } from './interpreter/scope.ts'
import type { GraphState, NodeState } from './interpreter/state.ts'
import { NodeFailure } from './node.ts'
import { attemptsOf, lastAttempt, type NodeEvent } from './node-attempts.ts'
import type { BodyNodeView, ItemView, OneNodeView, ReadNode } from './node-view.ts'
import { hydrate } from './outputs.ts'
import { nodeViews, readState } from './read.ts'
import { callbacksIn } from './worker/callbacks.ts'
import type { TurnOutput } from './worker/loop-state.ts'
import { contextOf } from './worker/owned.ts'

// Reads the arguments of one node of an execution and the result of each attempt. Arguments are not stored: they are
// resolved again from the nodes that had settled when the node became ready, as on every attempt.

/**
 * A graph of the execution: the definition, or the body of a map or loop for one item or iteration. `notShown`: the
 * reason why nothing in it can be resolved.
 */
type Level = { prefix: string; context: Context; state: GraphState; notShown?: string }
type ItemRow = { state: GraphState | null; output: Json }
type At = { workspaceId: string; executionId: string }
type Deps = { db: Database; blobs: Blobs }

/** The maximum number of bytes that are read from the blob store to resolve arguments. */
const MAX_READ = 8 * 1024 * 1024
const MAX_EVENTS = 1_000

const EVENTS = `select type, at, data from journal where workspace_id = $1 and execution_id = $2 and type like 'node.%'
    and type <> 'node.progress' and data ->> 'node_id' = $3 order by seq limit ${MAX_EVENTS}`

const ITEMS = `select index, status, output, error, usage from map_items
  where workspace_id = $1 and execution_id = $2 and path = $3 and index > $4 order by index limit $5`

const ITEM = `select state, status, output from map_items where workspace_id = $1 and execution_id = $2 and path = $3 and index = $4`

const LAST = `select max(index) as last from map_items where workspace_id = $1 and execution_id = $2 and path = $3`

/** The reason why the arguments of a node cannot be shown. */
class NotShown extends Error {}

const messageOf = (error: unknown): string => {
  if (error instanceof ExpressionFailure || error instanceof NodeFailure || error instanceof NotShown)
    return error.message
  throw error
}

/**
 * Loads the outputs that `args` may name. If they are too large, loads only the outputs of nodes whose id occurs in
 * `args`.
 */
const withOutputs = (blobs: Blobs, state: GraphState, args: JsonObject): Promise<GraphState> => {
  const bytesOf = (nodes: GraphState['nodes']): number =>
    Object.values(nodes).reduce((sum, node) => sum + (node.blob?.bytes ?? 0), 0)
  if (bytesOf(state.nodes) <= MAX_READ) return hydrate(blobs, state)
  const text = JSON.stringify(args)
  const nodes = Object.fromEntries(
    Object.entries(state.nodes).map(([id, node]): [string, NodeState] => {
      const { blob: _blob, ...rest } = node
      return [id, text.includes(id) ? node : rest]
    }),
  )
  if (bytesOf(nodes) > MAX_READ) throw new NotShown('The outputs that its arguments use are larger than 8 MiB.')
  return hydrate(blobs, { ...state, nodes })
}

const resolved = async ({ blobs }: Deps, { context, state }: Level, node: Node): Promise<JsonObject> => {
  const known = state.nodes[node.id] as NodeState
  const whole = await withOutputs(blobs, state, node.args ?? {})
  const pass = openPass(context, compile(context.graph), whole, {
    at: known.started_at ?? 0,
    allowance: { ...UNLIMITED },
  })
  return argsOf(pass, node, known.ready)
}

const nodeIn = (graph: Graph, id: string): Node | undefined => graph.nodes.find((node) => node.id === id)

const hasBody = ({ type }: Node): boolean => type === 'map' || type === 'loop'

/** Returns the state at the start of an iteration of a loop. */
const stateBefore = async (
  { db }: Deps,
  { workspaceId, executionId }: At,
  rows: string,
  turn: number,
  args: JsonObject,
) => {
  if (turn === 0) return loopArgs(args).state
  const before = await db.tenant({ workspaceId, userId: null }, (tx) =>
    tx.maybe<ItemRow>(ITEM, [workspaceId, executionId, rows, turn - 1]),
  )
  const output = before?.output as unknown as TurnOutput | undefined
  if (output?.state === undefined) throw new NotShown('The state at the start of the turn is no longer stored.')
  return output.state
}

/** Returns the context of the nodes of an item or iteration. */
async function contextIn(
  deps: Deps,
  at: At,
  level: Level,
  { node, rows, prefix, index }: { node: Node; rows: string; prefix: string; index: number },
): Promise<Context> {
  const args = await resolved(deps, level, node)
  const { ready } = level.state.nodes[node.id] as NodeState
  const around = scopeAt(level.context, await withOutputs(deps.blobs, level.state, node.args ?? {}), ready)
  const { callbacks: _callbacks, callbackUrl, ...context } = level.context
  const graph = node.args?.body as unknown as Graph
  return {
    ...context,
    ...(node.type === 'map'
      ? { item: mapArgs(args).items[index] ?? null, index }
      : { loop: { state: await stateBefore(deps, at, rows, index, args), turn: index } }),
    ...(callbackUrl && { callbackUrl, ...callbacksIn(graph, prefix, callbackUrl) }),
    execution: around.execution,
    seed: `${context.seed}:${prefix}`,
    outer: around.nodes,
  }
}

/**
 * Returns the body of a map or loop for one item or iteration. Undefined if there is none, or if its state is not
 * stored.
 */
async function enter(deps: Deps, at: At, level: Level, step: BodyStep): Promise<Level | undefined> {
  const { workspaceId, executionId } = at
  const node = nodeIn(level.context.graph, step.node)
  const known = level.state.nodes[step.node]
  if (!node || !known || !hasBody(node)) return undefined
  const rows = rowsOf(level.prefix, step.node, step.attempt)
  const row = await deps.db.tenant({ workspaceId, userId: null }, (tx) =>
    tx.maybe<ItemRow>(ITEM, [workspaceId, executionId, rows, step.index]),
  )
  if (!row?.state) return undefined
  const prefix = `${rows}[${step.index}].`
  const graph = node.args?.body as unknown as Graph
  try {
    if (level.notShown) throw new NotShown(level.notShown)
    const context = await contextIn(deps, at, level, { node, rows, prefix, index: step.index })
    return { prefix, state: row.state, context: { ...context, graph } }
  } catch (error) {
    return { prefix, state: row.state, context: { ...level.context, graph }, notShown: messageOf(error) }
  }
}

/** For a loop: returns the state after the iteration and the collected value. */
const shownItem = (item: ItemView): ItemView => {
  if (item.status !== 'succeeded' || !isObject(item.output)) return item
  const { state: output = null, collected } = item.output as unknown as TurnOutput
  return { ...item, output, ...(collected !== undefined && { collected }) }
}

/**
 * Returns the nodes of a body for one item or iteration. Nodes that never started are skipped if the item has ended.
 */
const bodyNodes = (
  body: Graph,
  { state, status }: { state: GraphState; status: ItemView['status'] },
): BodyNodeView[] => {
  const known = nodeViews(state).map(({ output: _output, blob: _blob, ...node }) => node)
  const isOver = status === 'succeeded' || status === 'failed'
  const untouched = body.nodes.filter(({ id }) => !Object.hasOwn(state.nodes, id))
  return [
    ...known,
    ...untouched.map(({ id }): BodyNodeView => {
      const kept = { attempt: 0, started_at: null, finished_at: null }
      return { node_id: id, status: isOver ? 'skipped' : 'pending', ...kept }
    }),
  ]
}

const readBody = async (
  tx: Tx,
  key: [string, string, string],
  node: Node,
  index: number,
): Promise<OneNodeView['body']> => {
  const row = await tx.maybe<{ state: GraphState | null; status: ItemView['status'] }>(ITEM, [...key, index])
  if (!row?.state) return null
  const { last } = await tx.row<{ last: number }>(LAST, key)
  const body = node.args?.body as unknown as Graph
  return { index, last, nodes: bodyNodes(body, { state: row.state, status: row.status }) }
}

const inputOf = async (deps: Deps, level: Level, node: Node): Promise<Pick<OneNodeView, 'input' | 'input_error'>> => {
  try {
    if (level.notShown) throw new NotShown(level.notShown)
    const { body, ...input } = await resolved(deps, level, node)
    const shown = hasBody(node) || body === undefined ? input : { ...input, body }
    if (jsonSize(shown, MAX_SHOWN_SIZE) > MAX_SHOWN_SIZE) throw new NotShown('The arguments are larger than 1 MiB.')
    return { input: shown, input_error: null }
  } catch (error) {
    return { input: null, input_error: messageOf(error) }
  }
}

export const makeReadNode = (deps: Deps & { loadDefinition: LoadDefinition; inTurn: AreaCalls }): ReadNode => {
  // Resolving arguments takes time and memory, so two run at a time, and only one per workspace.
  const resolving = makeWorkspaceTurns({ atOnce: 2, perWorkspace: 1 })

  const topLevel = async ({ workspaceId, executionId }: At): Promise<Level | undefined> => {
    const found = await readState(deps.db, deps.inTurn, workspaceId, executionId, { whole: true })
    if (!found) return undefined
    const { row, state } = found
    const definition = await deps.loadDefinition(workspaceId, row.definition_ref).catch(() => undefined)
    if (!definition) return undefined
    const about = {
      workspaceId,
      executionId,
      workflowId: row.workflow_id,
      startedBy: row.started_by,
      input: row.input,
      scheduledAt: row.scheduled_at,
      vars: state.vars,
    }
    const trigger = { kind: row.trigger_kind, id: row.trigger_id }
    // Any client that has the address of a callback can answer the node, so the address is not shown.
    const callbackUrl = () => MASK
    return { prefix: '', state, context: contextOf(about, trigger, definition, () => 'pure', callbackUrl) }
  }

  return async (at, page) => {
    const { workspaceId, executionId } = at
    const path = parsePath(at.path)
    if (!path) return undefined
    let level = await topLevel(at)
    for (const step of path.bodies) {
      const around = level
      level = around && (await resolving(workspaceId, () => enter(deps, at, around, step)))
    }
    const node = level && nodeIn(level.context.graph, path.node)
    if (!level || !node) return undefined
    const here = level
    const known = here.state.nodes[node.id]
    const rows: [string, string, string] = [workspaceId, executionId, rowsOf(here.prefix, node.id, known?.attempt ?? 1)]
    const read = await deps.db.tenant({ workspaceId, userId: null }, async (tx) => ({
      events: here.prefix ? [] : await tx.rows<NodeEvent>(EVENTS, [workspaceId, executionId, node.id]),
      items: hasBody(node) ? await pageRows<ItemView>(tx, ITEMS, [...rows, page.after, page.limit]) : [],
      body: hasBody(node) && page.item !== undefined ? await readBody(tx, rows, node, page.item) : null,
    }))
    const isUntouched = !known || known.status === 'skipped'
    return {
      node_id: at.path,
      type: node.type,
      status: known?.status ?? 'pending',
      attempts: here.prefix && known ? lastAttempt(known) : attemptsOf(read.events),
      items: node.type === 'loop' ? read.items.map(shownItem) : read.items,
      body: read.body,
      ...(isUntouched
        ? { input: null, input_error: null }
        : await resolving(workspaceId, () => inputOf(deps, here, node))),
    }
  }
}
