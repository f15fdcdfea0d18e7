import type { z } from 'zod'
import { accessLevelFrom } from '#areas/workflows/service'
import type { SystemWorkflow } from '#areas/workflows/system'
import { serviceAccountInitiator } from '#engine/initiators'
import type { Engine, ExecutionView } from '#engine/ports'
import type { JsonObject } from '#model/definition'
import type { FindAccessLevel } from '#platform/access/check'
import type { AccessLevel } from '#platform/access/rules'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { markReplayed } from '#platform/http/idempotency'
import { decodeCursor, toPage } from '#platform/http/page'
import type { Exchange } from '#platform/http/route'
import { toWire } from '#platform/ids'
import { type IssuedTicket, issueTicket } from '#platform/realtime/tickets'
import { bindVerbs } from '#platform/verbs'
import { runBatch } from './batch.ts'
import { findExecutions, listOfSystem, listOfWorkflow } from './listing.ts'
import { getExecutionNode } from './node.ts'
import { startOptionsOf } from './options.ts'
import type { Execution, eventsQuery, RetryBody, RunBody } from './schema.ts'
import { sendStoredJson } from './send-json.ts'
import {
  checkInput,
  endedInTime,
  findFlow,
  findTarget,
  hasFinished,
  idempotencyOf,
  makeCountedStart,
  type Quota,
  requireActivated,
  type StartExecution,
  type StartOptions,
  systemTarget,
  type Target,
} from './start.ts'
import * as store from './store.ts'
import type { Views } from './view.ts'

type ById = { execution_id: string }

/** Returns what started an execution and what it belongs to. Undefined if the workspace has no such execution. */
export const originOf = store.findOwner

/** Returns the caller's rights in an execution that belongs to a job and to no workflow. */
export type AdhocAccessLevel = (ctx: Context, triggerId: string) => Promise<AccessLevel | undefined>

export const makeAccessLevelInExecution =
  (options: {
    accessLevelInJob?: AdhocAccessLevel
    /** A person whom an open question names may see that the execution exists. */
    accessLevelThroughQuestion?: AdhocAccessLevel
  }): FindAccessLevel =>
  async (ctx, executionId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const whose = await store.findOwnerFor(ctx.tx, ctx.workspace.workspace_id, executionId, ctx.person.user_id)
    if (!whose) return undefined
    const started = whose.started_by === ctx.person.user_id
    if (whose.system_slug !== null) return started ? 'owner' : undefined
    const { owner_id, role } = whose
    const inWorkflow = owner_id === null ? undefined : accessLevelFrom(ctx, { owner_id, role })
    if (inWorkflow !== undefined && inWorkflow !== 'visible') return inWorkflow
    if (whose.workflow_id === null && whose.trigger_kind === 'job' && whose.trigger_id !== null) {
      const inJob = await options.accessLevelInJob?.(ctx, whose.trigger_id)
      if (inJob !== undefined) return inJob
    }
    return started ? 'viewer' : options.accessLevelThroughQuestion?.(ctx, executionId)
  }

export type Parts = {
  engine: Engine
  views: Views
  system: ReadonlyMap<string, SystemWorkflow>
  startExecution: StartExecution
  quota: Quota
}

async function read({ engine }: Parts, ctx: Context, executionId: string): Promise<ExecutionView> {
  const view = await engine.readExecution(ctx.workspace.workspace_id, executionId)
  if (!view) throw problem('not_found')
  return view
}

async function inputOf({ engine }: Parts, view: ExecutionView): Promise<JsonObject> {
  if (!view.large_input) return view.input as JsonObject
  return JSON.parse((await engine.readInput(view.workspace_id, view.execution_id)) ?? 'null') as JsonObject
}

/** Answers 202 as soon as the start is stored. With `wait_s`, answers 200 and the execution if it ends in time. */
async function answer(
  { engine, views }: Parts,
  ctx: Context,
  executionId: string,
  waitS: number,
): Promise<Execution | { execution_id: string; status: 'queued' }> {
  ctx.status(202)
  const view = await endedInTime(engine, ctx.workspace.workspace_id, executionId, waitS, ctx)
  if (view) {
    ctx.status(200)
    return views.whole(view)
  }
  // Always the status at acceptance, so that a repetition with the same key gets the same bytes.
  return { execution_id: executionId, status: 'queued' }
}

async function start(
  parts: Parts,
  ctx: Context,
  target: Target,
  input: JsonObject,
  waitS: number,
  exchange: Exchange,
  more: StartOptions = {},
) {
  const { startExecution } = parts
  const started = await startExecution(ctx.workspace.workspace_id, target, input, {
    trigger: { kind: target.systemSlug ? 'system' : 'user', id: toWire('usr', ctx.person.user_id) },
    startedBy: ctx.person.user_id,
    ...(ctx.person.isServiceAccount && { initiatedBy: [serviceAccountInitiator(ctx.person.user_id)] }),
    onCommitting: ctx.awaitCommit,
    traceparent: ctx.traceparent,
    more,
    idempotency: idempotencyOf(
      ctx,
      Buffer.concat([Buffer.from(`${exchange.request.method} ${exchange.request.url}\n`), exchange.request.rawBody]),
    ),
  })
  if (started.replayed) markReplayed(ctx)
  return answer(parts, ctx, started.executionId, waitS)
}

export const getExecution = async (parts: Parts, ctx: Context, { execution_id }: ById): Promise<Execution> =>
  parts.views.whole(await read(parts, ctx, execution_id))

export async function runWorkflow(
  parts: Parts,
  ctx: Context,
  { workflow_id, input, version_id, wait_s, ...options }: { workflow_id: string; wait_s: number } & RunBody,
  exchange: Exchange,
) {
  const target = await ctx.db.tenant(scopeOf(ctx), (tx) =>
    findTarget(tx, ctx.workspace.workspace_id, workflow_id, version_id),
  )
  return start(parts, ctx, target, (input ?? {}) as JsonObject, wait_s, exchange, startOptionsOf(target, options))
}

export async function findSystemWorkflow(
  { system }: Parts,
  _ctx: Context,
  { workflow_id }: { workflow_id: string },
): Promise<void> {
  if (!system.has(workflow_id)) throw problem('not_found')
}

export async function runSystemWorkflow(
  parts: Parts,
  ctx: Context,
  { workflow_id, input, wait_s }: { workflow_id: string; wait_s: number; input?: Record<string, unknown> | undefined },
  exchange: Exchange,
) {
  const { system } = parts
  const workflow = system.get(workflow_id)
  if (!workflow) throw problem('not_found')
  return start(parts, ctx, systemTarget(workflow), (input ?? {}) as JsonObject, wait_s, exchange)
}

export async function cancelExecution(
  { engine }: Parts,
  ctx: Context,
  { execution_id }: ById,
): Promise<{ execution_id: string; status: ExecutionView['status'] }> {
  const outcome = await engine.cancel(
    ctx.tx,
    { workspaceId: ctx.workspace.workspace_id, executionId: execution_id },
    toWire('usr', ctx.person.user_id),
  )
  if (outcome === 'unknown') throw problem('not_found')
  const { status } = await store.readStatus(ctx.tx, ctx.workspace.workspace_id, execution_id)
  if (hasFinished({ status }))
    throw problem('already_finished', 'The execution has already ended, so it cannot be cancelled.')
  return { execution_id, status }
}

export async function retryExecution(
  parts: Parts,
  ctx: Context,
  { execution_id, from, version }: ById & z.output<typeof RetryBody>,
  exchange: Exchange,
) {
  const { engine } = parts
  const workspaceId = ctx.workspace.workspace_id
  const view = await read(parts, ctx, execution_id)
  if (!hasFinished(view))
    throw problem('not_retryable', 'The execution is still running. Cancel it first, or wait until it ends.')
  if (view.trigger.kind === 'trial')
    throw problem('not_retryable', 'The execution was a trial run of a draft. Try the draft again in the editor.')
  if (view.workflow_id !== null)
    await ctx.db.tenant(scopeOf(ctx), (tx) => requireActivated(tx, workspaceId, view.workflow_id!))
  const target =
    version === 'active' && view.workflow_id !== null
      ? await ctx.db.tenant(scopeOf(ctx), (tx) => findTarget(tx, workspaceId, view.workflow_id!))
      : undefined
  const flow =
    target || view.workflow_id === null
      ? null
      : await ctx.db.tenant(scopeOf(ctx), (tx) => findFlow(tx, workspaceId, view.workflow_id!))
  const idempotency = idempotencyOf(
    ctx,
    Buffer.concat([Buffer.from(`${exchange.request.url}\n`), exchange.request.rawBody]),
  )
  const started = await makeCountedStart(parts)(
    workspaceId,
    idempotency,
    async () => target && checkInput(target.inputs, await inputOf(parts, view)),
    () =>
      engine.retry({
        workspaceId,
        executionId: execution_id,
        from,
        ...(target && { target }),
        flow,
        startedBy: ctx.person.user_id,
        trigger: { kind: view.system_slug === null ? 'user' : 'system', id: toWire('usr', ctx.person.user_id) },
        ...(idempotency && { idempotency }),
      }),
  )
  if (started.replayed) markReplayed(ctx)
  return { execution_id: started.executionId, status: 'queued' as const }
}

export async function listEvents(
  { engine }: Parts,
  ctx: Context,
  { execution_id, after, limit, cursor }: ById & z.output<typeof eventsQuery>,
) {
  const key = decodeCursor(cursor, 1)
  const from = typeof key?.[0] === 'number' ? key[0] : after
  const events = await engine.readEvents(ctx.workspace.workspace_id, execution_id, from, limit + 1)
  return toPage(events, limit, (event) => [event.seq])
}

export const createTicket = (ctx: Context, { execution_id }: ById): Promise<IssuedTicket> =>
  issueTicket(ctx, {
    kind: 'execution',
    resource: execution_id,
    path: `/ws/executions/${toWire('exe', execution_id)}`,
  })

/** Sends a large output as it is stored. Only outputs that this execution refers to can be read. */
export async function readBlob(
  parts: Parts,
  ctx: Context,
  { execution_id, sha256 }: ById & { sha256: string },
  exchange: Exchange,
): Promise<void> {
  const { views } = parts
  await sendStoredJson(exchange, await views.blob(await read(parts, ctx, execution_id), sha256))
}

export const makeExecutions = (parts: Parts) => ({
  createTicket,
  ...bindVerbs(parts, {
    getExecutionNode,
    runBatch,
    getExecution,
    listOfWorkflow,
    listOfSystem,
    searchExecutions: findExecutions,
    runWorkflow,
    findSystemWorkflow,
    runSystemWorkflow,
    cancelExecution,
    retryExecution,
    listEvents,
    readBlob,
  }),
})

export type Executions = ReturnType<typeof makeExecutions>
