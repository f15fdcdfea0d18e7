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
import { areStillValid } from '#platform/realtime/tickets'
import { canElicit, type ElicitationParts, makeElicitor, sessionFor, takeAnswer } from './elicitation.ts'
import { openEvents, type Send } from './events.ts'
import { type Id, type Message, type Reply, rpcError } from './rpc.ts'
import { listToolNames, listTools, type ToolWorkflow } from './store.ts'
import { failed, resultOf, type ToolResult, toolNameOf, toolOf } from './tools.ts'

// Heddle as a server of the Model Context Protocol. It stores no sessions: the API key of every request identifies the
// caller.

/** A client that receives nothing for a minute gives up. */
const SIGN_OF_LIFE_EVERY = 15 * SECOND
const SMALL_STEP = 0.001

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26']

/** Checks the header in which a client repeats the negotiated version. A client of 2025-03-26 does not send it. */
export const isKnownVersion = (header: string | string[] | undefined): boolean =>
  header === undefined || VERSIONS.some((version) => version === header)

const TOOLS_AT_ONCE = 50
/** Larger schemas are listed as a plain object. A call is checked against the whole schema. */
const MAX_SCHEMA_BYTES = 16 << 10
/** Clients give up after a minute unless they receive progress. */
const WAIT_QUIETLY = 50 * SECOND
const WAIT_WITH_PROGRESS = 600 * SECOND
const POLL_EVERY = 1 * SECOND

export type McpParts = ElicitationParts & {
  engine: Pick<Engine, 'waitFor' | 'readExecution'>
  views: Views
  startExecution: StartExecution
}

type Params = JsonObject

/** Answers one message. Returns undefined if it needs no reply. */
export async function answerMessage(
  parts: McpParts,
  ctx: Context,
  message: Message,
  exchange: Exchange,
): Promise<Reply | undefined> {
  const { id, method, params = {}, answered } = message
  if (id === undefined) return undefined
  if (answered !== undefined) {
    await takeAnswer(parts, ctx, id, answered)
    return undefined
  }
  const result = (value: object): Reply => ({ jsonrpc: '2.0', id, result: value })
  switch (method) {
    case 'initialize': {
      const session = sessionFor(params.capabilities)
      if (session !== undefined) exchange.reply.header('mcp-session-id', session)
      return result(initialized(params))
    }
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
  const progressToken = typeof token === 'string' || typeof token === 'number' ? token : undefined
  const elicits = canElicit(exchange)
  const view =
    openEvents.accepts(exchange) && (progressToken !== undefined || elicits)
      ? await waitWithEvents(parts, ctx, executionId, { progressToken, elicits }, openEvents(exchange))
      : await parts.engine.waitFor(workspace_id, executionId, WAIT_QUIETLY, ctx.stepAside())
  if (!(await hasAccess(ctx))) return failed('Your access has ended. The execution continues.')
  if (!view) return failed('The execution no longer exists.')
  const execution = await parts.views.whole(view)
  return resultOf({ ...execution, results: execution.results as Json })
}

/**
 * Checks whether the caller is still a member and the key or the permission of the program still exists. A call can
 * take ten minutes, and a program must get nothing after its permission was withdrawn.
 */
async function hasAccess({ db, credential, person, workspace }: Context): Promise<boolean> {
  if (credential.kind !== 'session' && credential.kind !== 'api_key') return false
  const { user_id } = person
  const { workspace_id } = workspace
  const [holds] = await areStillValid(db, [
    { user_id, workspace_id, credential_kind: credential.kind, credential_id: credential.id },
  ])
  return holds === true
}

/**
 * Reports the number of ended nodes whenever it changes, and asks the questions of the execution if the client supports
 * it.
 */
async function waitWithEvents(
  parts: McpParts,
  ctx: Context,
  executionId: string,
  { progressToken, elicits }: { progressToken: Id | undefined; elicits: boolean },
  send: Send,
): Promise<ExecutionView | undefined> {
  const until = performance.now() + (progressToken === undefined ? WAIT_QUIETLY : WAIT_WITH_PROGRESS)
  const tell = makeProgress(progressToken, send)
  const elicitor = elicits ? await makeElicitor(parts, ctx, send) : undefined
  try {
    for (;;) {
      const view = await parts.engine.waitFor(ctx.workspace.workspace_id, executionId, POLL_EVERY, ctx.stepAside())
      if (!view || !(await hasAccess(ctx))) return undefined
      tell(view)
      if (hasFinished(view) || performance.now() > until || ctx.signal.aborted) return view
      // People take longer than a client waits. Their questions are in their inbox.
      if (view.status === 'waiting' && !(await elicitor?.ask(view))) return view
    }
  } finally {
    await elicitor?.stop()
  }
}

/**
 * Progress must grow with each notification. While no node ends, it grows by a small step, so that the client keeps
 * waiting.
 */
function makeProgress(progressToken: Id | undefined, send: Send): (view: ExecutionView) => void {
  let told = -1
  let at = performance.now()
  return (view) => {
    if (progressToken === undefined) return
    const ended = view.nodes.filter(({ status }) => ENDED.has(status)).length
    if (ended <= told && performance.now() - at < SIGN_OF_LIFE_EVERY) return
    told = ended > told ? ended : told + SMALL_STEP
    at = performance.now()
    send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: told, total: view.nodes.length, message: view.status },
    })
  }
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'skipped', 'cancelled', 'timed_out'])
