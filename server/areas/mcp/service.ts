import { findTarget, hasFinished, idempotencyOf, type StartExecution } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import { serviceAccountInitiator } from '#engine/initiators'
import type { Engine, ExecutionView } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import { isProblem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { API_VERSION } from '#platform/http/openapi/document'
import type { Exchange } from '#platform/http/route'
import { fromWire, toWire } from '#platform/ids'
import { openEvents, type Send } from './events.ts'
import { type Id, type Message, type Reply, rpcError } from './rpc.ts'
import { listToolNames, listTools, type ToolWorkflow } from './store.ts'
import { failed, resultOf, type ToolResult, toolNameOf, toolOf } from './tools.ts'

// Heddle as a server of the Model Context Protocol. It keeps no sessions: every request says who asks by its API key.

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26']
const TOOLS_AT_ONCE = 50
/** Larger ones are told as an object of any kind; a call is checked against the whole schema. */
const MAX_SCHEMA_BYTES = 16 << 10
/** Clients give up after a minute unless they are told of progress. */
const WAIT_QUIETLY = 50 * SECOND
const WAIT_WITH_PROGRESS = 600 * SECOND
const LOOK_EVERY = 1 * SECOND

export type McpParts = {
  engine: Pick<Engine, 'waitFor' | 'readExecution'>
  views: Views
  startExecution: StartExecution
}

type Params = JsonObject

/** Answers one message; undefined where it wants no answer. */
export async function answerMessage(
  parts: McpParts,
  ctx: Context,
  message: Message,
  exchange: Exchange,
): Promise<Reply | undefined> {
  const { id, method, params = {} } = message
  if (id === undefined) return undefined
  const result = (value: object): Reply => ({ jsonrpc: '2.0', id, result: value })
  switch (method) {
    case 'initialize':
      return result(initialized(params))
    case 'ping':
      return result({})
    case 'tools/list':
      return listed(ctx, id, params)
    case 'tools/call': {
      const row = (await toolNames(ctx)).find((one) => toolNameOf(one) === params.name)
      if (row === undefined) return rpcError(id, -32602, 'there is no such tool, or you may not run it')
      return result(await callTool(parts, ctx, row, params, exchange))
    }
    default:
      return rpcError(id, -32601, `the method ${String(method).slice(0, 100)} is not known here`)
  }
}

const initialized = ({ protocolVersion }: Params): object => ({
  protocolVersion: VERSIONS.find((version) => version === protocolVersion) ?? VERSIONS[1],
  capabilities: { tools: {} },
  serverInfo: { name: 'heddle', title: 'Heddle', version: API_VERSION },
})

const toolNames = (ctx: Context): Promise<ToolWorkflow[]> =>
  ctx.db.tenant(scopeOf(ctx), (tx) => listToolNames(tx, ctx.workspace.workspace_id, ctx.person.user_id))

/** The cursor is the id of the last workflow. */
async function listed(ctx: Context, id: Id, { cursor }: Params): Promise<Reply> {
  const after = cursor === undefined ? null : fromWire('wf', String(cursor))
  if (after === undefined) return rpcError(id, -32602, 'the cursor is not one of this list')
  const rows = await ctx.db.tenant(scopeOf(ctx), (tx) =>
    listTools(tx, ctx.workspace.workspace_id, ctx.person.user_id, {
      after,
      limit: TOOLS_AT_ONCE + 1,
      maxBytes: MAX_SCHEMA_BYTES,
    }),
  )
  const page = rows.slice(0, TOOLS_AT_ONCE)
  const nextCursor = rows.length > TOOLS_AT_ONCE ? toWire('wf', page.at(-1)!.workflow_id) : undefined
  return { jsonrpc: '2.0', id, result: { tools: page.map(toolOf), ...(nextCursor && { nextCursor }) } }
}

async function callTool(
  parts: McpParts,
  ctx: Context,
  { workflow_id }: ToolWorkflow,
  params: Params,
  exchange: Exchange,
): Promise<ToolResult> {
  const { workspace_id } = ctx.workspace
  const input = isObject(params.arguments) ? params.arguments : {}
  let executionId: string
  try {
    const target = await ctx.db.tenant(scopeOf(ctx), (tx) => findTarget(tx, workspace_id, workflow_id))
    const started = await parts.startExecution(workspace_id, target, input, {
      traceparent: ctx.traceparent,
      trigger: { kind: 'user', id: toWire('usr', ctx.person.user_id) },
      startedBy: ctx.person.user_id,
      ...(ctx.person.isServiceAccount && { initiatedBy: [serviceAccountInitiator(ctx.person.user_id)] }),
      idempotency: idempotencyOf(ctx, exchange.request.rawBody),
    })
    executionId = started.executionId
  } catch (error) {
    if (!isProblem(error)) throw error
    const { message, errors = [] } = error
    return failed([message, ...errors.map(({ path, message: what }) => `${path} ${what}`)].join('\n'))
  }
  const token = isObject(params._meta) ? params._meta.progressToken : undefined
  const wantsProgress = (typeof token === 'string' || typeof token === 'number') && openEvents.accepts(exchange)
  const view = wantsProgress
    ? await waitWithProgress(parts, ctx, executionId, token, openEvents(exchange))
    : await parts.engine.waitFor(workspace_id, executionId, WAIT_QUIETLY, ctx.stepAside())
  if (!view) return failed('The execution is gone.')
  const execution = await parts.views.whole(view)
  return resultOf({ ...execution, results: execution.results as Json })
}

/** Tells how many nodes have ended, whenever that changed. */
async function waitWithProgress(
  { engine }: McpParts,
  ctx: Context,
  executionId: string,
  progressToken: string | number,
  send: Send,
): Promise<ExecutionView | undefined> {
  const until = performance.now() + WAIT_WITH_PROGRESS
  let told = -1
  for (;;) {
    const view = await engine.waitFor(ctx.workspace.workspace_id, executionId, LOOK_EVERY, ctx.stepAside())
    if (!view) return undefined
    const progress = view.nodes.filter(({ status }) => ENDED.has(status)).length
    if (progress > told)
      send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress, total: view.nodes.length, message: view.status },
      })
    told = Math.max(told, progress)
    // People take longer than a client waits; what they are asked is in their inbox.
    if (hasFinished(view) || view.status === 'waiting' || performance.now() > until || ctx.signal.aborted) return view
  }
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'skipped', 'cancelled', 'timed_out'])
