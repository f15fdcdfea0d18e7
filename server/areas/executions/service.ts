import type { z } from 'zod'
import { standingFrom } from '#areas/workflows/service'
import type { SystemWorkflow } from '#areas/workflows/system'
import { serviceAccountInitiator } from '#engine/initiators'
import type { Engine, ExecutionView, TriggerKind } from '#engine/ports'
import type { JsonObject } from '#model/definition'
import type { StandingIn } from '#platform/access/check'
import type { Standing } from '#platform/access/words'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { noteReplayed } from '#platform/http/idempotency'
import { decodeCursor, decodeIdCursor, encodeCursor, toPage } from '#platform/http/page'
import type { Exchange } from '#platform/http/route'
import type { ListQuery } from '#platform/http/schema'
import { fromWire, NOWHERE, toWire } from '#platform/ids'
import { type IssuedTicket, issueTicket } from '#platform/realtime/tickets'
import { runBatch } from './batch.ts'
import { type Content, fieldsOf, hasContent, searchByContent } from './content.ts'
import type { Listing } from './newest.ts'
import { getExecutionNode } from './node.ts'
import { startOptionsOf } from './options.ts'
import type {
  BatchAccepted,
  BatchRun,
  Execution,
  ExecutionListQuery,
  eventsQuery,
  RetryBody,
  RunBody,
} from './schema.ts'
import { NOT_JOBS, NOT_TRIALS, searchExecutions } from './search.ts'
import { sendStoredJson } from './send-json.ts'
import {
  checkInput,
  endedInTime,
  findFlow,
  findTarget,
  hasFinished,
  idempotencyOf,
  makeCounted,
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

const listingOf = (asked: ExecutionListQuery): Listing => ({
  oldestFirst: asked.sort === 'created_at',
  after: decodeIdCursor(asked.cursor),
  from: asked.created_after ?? null,
  to: asked.created_before ?? null,
  limit: asked.limit,
})

/** What started an execution and what it belongs to; undefined where the workspace has no such execution. */
export const originOf = store.findWhose

/** What the caller may do with an execution that belongs to a job and to no workflow. */
export type AdhocStanding = (ctx: Context, triggerId: string) => Promise<Standing | undefined>

export const makeStandingInExecution =
  (options: {
    standingInJob?: AdhocStanding
    /** A person named by an open question sees that the execution exists. */
    standingThroughQuestion?: AdhocStanding
  }): StandingIn =>
  async (ctx, executionId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const whose = await store.findWhoseFor(ctx.tx, ctx.workspace.workspace_id, executionId, ctx.person.user_id)
    if (!whose) return undefined
    const started = whose.started_by === ctx.person.user_id
    if (whose.system_slug !== null) return started ? 'owner' : undefined
    const { owner_id, role } = whose
    const inWorkflow = owner_id === null ? undefined : standingFrom(ctx, { owner_id, role })
    if (inWorkflow !== undefined && inWorkflow !== 'visible') return inWorkflow
    if (whose.workflow_id === null && whose.trigger_kind === 'job' && whose.trigger_id !== null) {
      const inJob = await options.standingInJob?.(ctx, whose.trigger_id)
      if (inJob !== undefined) return inJob
    }
    return started ? 'viewer' : options.standingThroughQuestion?.(ctx, executionId)
  }

export function makeExecutions(options: {
  engine: Engine
  views: Views
  system: ReadonlyMap<string, SystemWorkflow>
  startExecution: StartExecution
  quota: Quota
}) {
  const { engine, views, system, startExecution } = options
  const counted = makeCounted(options)

  async function read(ctx: Context, executionId: string): Promise<ExecutionView> {
    const view = await engine.readExecution(ctx.workspace.workspace_id, executionId)
    if (!view) throw problem('not_found')
    return view
  }

  async function inputOf(view: ExecutionView): Promise<JsonObject> {
    if (!view.large_input) return view.input as JsonObject
    return JSON.parse((await engine.readInput(view.workspace_id, view.execution_id)) ?? 'null') as JsonObject
  }

  /** 202 as soon as it is durable; with `wait_s`, 200 and the execution itself if it ends in time. */
  async function answer(
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
    ctx: Context,
    target: Target,
    input: JsonObject,
    waitS: number,
    exchange: Exchange,
    more: StartOptions = {},
  ) {
    const started = await startExecution(ctx.workspace.workspace_id, target, input, {
      trigger: { kind: target.systemSlug ? 'system' : 'user', id: toWire('usr', ctx.person.user_id) },
      startedBy: ctx.person.user_id,
      ...(ctx.person.isServiceAccount && { initiatedBy: [serviceAccountInitiator(ctx.person.user_id)] }),
      traceparent: ctx.traceparent,
      more,
      idempotency: idempotencyOf(
        ctx,
        Buffer.concat([Buffer.from(`${exchange.request.method} ${exchange.request.url}\n`), exchange.request.rawBody]),
      ),
    })
    if (started.replayed) noteReplayed(ctx)
    return answer(ctx, started.executionId, waitS)
  }

  return {
    getExecution: async (ctx: Context, { execution_id }: ById): Promise<Execution> =>
      views.whole(await read(ctx, execution_id)),

    getExecutionNode: (ctx: Context, input: ById & { path: string } & ListQuery) =>
      getExecutionNode({ engine }, ctx, input),

    async listOfWorkflow(
      ctx: Context,
      {
        workflow_id,
        include_jobs: jobs = false,
        include_trials: trials = false,
        ...asked
      }: {
        workflow_id: string
        include_jobs?: boolean | undefined
        include_trials?: boolean | undefined
      } & ExecutionListQuery,
    ) {
      const { workspace_id } = ctx.workspace
      const listing = listingOf(asked)
      const rows = system.has(workflow_id)
        ? await store.listBySystem(ctx.tx, workspace_id, workflow_id, ctx.person.user_id, listing)
        : await store.listByWorkflow(ctx.tx, workspace_id, workflow_id, { ...listing, jobs, trials })
      return toPage(rows, listing.limit, (row) => [row.execution_id])
    },

    async listOfSystem(ctx: Context, { workflow_id, ...asked }: { workflow_id: string } & ExecutionListQuery) {
      if (!system.has(workflow_id)) throw problem('not_found')
      const { workspace_id } = ctx.workspace
      const listing = listingOf(asked)
      const rows = await store.listBySystem(ctx.tx, workspace_id, workflow_id, ctx.person.user_id, listing)
      return toPage(rows, listing.limit, (row) => [row.execution_id])
    },

    async searchExecutions(ctx: Context, input: SearchInput) {
      const wanted = input.workflow_id
      const slug = wanted !== undefined && system.has(wanted) ? wanted : null
      const filter = {
        workflowId: wanted === undefined || slug !== null ? null : (fromWire('wf', wanted) ?? NOWHERE),
        systemSlug: slug,
        status: input.status ?? null,
        trigger: input.trigger ?? wantedTriggers(input),
      }
      const listing = listingOf({
        ...input,
        created_after: input.created_after ?? input.from,
        created_before: input.created_before ?? input.to,
      })
      const content = contentOf(input)
      const keyOf = (row: { execution_id: string }) => [row.execution_id]
      const { workspace_id } = ctx.workspace
      const { user_id } = ctx.person
      if (!hasContent(content))
        return toPage(await searchExecutions(ctx.tx, workspace_id, user_id, filter, listing), input.limit, keyOf)
      const found = await searchByContent(
        ctx.tx,
        { workspaceId: workspace_id, userId: user_id },
        { ...filter, content },
        listing,
      )
      const page = toPage(found.rows, input.limit, keyOf)
      return page.next_cursor === null && found.lookedUntil !== null
        ? { ...page, next_cursor: encodeCursor([found.lookedUntil]) }
        : page
    },

    async runWorkflow(
      ctx: Context,
      { workflow_id, input, version_id, wait_s, ...options }: { workflow_id: string; wait_s: number } & RunBody,
      exchange: Exchange,
    ) {
      const target = await ctx.db.tenant(scopeOf(ctx), (tx) =>
        findTarget(tx, ctx.workspace.workspace_id, workflow_id, version_id),
      )
      return start(ctx, target, (input ?? {}) as JsonObject, wait_s, exchange, startOptionsOf(target, options))
    },

    runBatch: (ctx: Context, input: { workflow_id: string; runs: BatchRun[] }): Promise<BatchAccepted> =>
      runBatch({ startExecution }, ctx, input),

    async findSystemWorkflow(_ctx: Context, { workflow_id }: { workflow_id: string }): Promise<void> {
      if (!system.has(workflow_id)) throw problem('not_found')
    },

    async runSystemWorkflow(
      ctx: Context,
      {
        workflow_id,
        input,
        wait_s,
      }: { workflow_id: string; wait_s: number; input?: Record<string, unknown> | undefined },
      exchange: Exchange,
    ) {
      const workflow = system.get(workflow_id)
      if (!workflow) throw problem('not_found')
      return start(ctx, systemTarget(workflow), (input ?? {}) as JsonObject, wait_s, exchange)
    },

    async cancelExecution(
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
      if (hasFinished({ status })) throw problem('already_finished', 'There is nothing left to cancel.')
      return { execution_id, status }
    },

    async retryExecution(
      ctx: Context,
      { execution_id, from, version }: ById & z.output<typeof RetryBody>,
      exchange: Exchange,
    ) {
      const workspaceId = ctx.workspace.workspace_id
      const view = await read(ctx, execution_id)
      if (!hasFinished(view))
        throw problem('not_retryable', 'It is still going on. Cancel it first, or wait for its end.')
      if (view.trigger.kind === 'trial')
        throw problem('not_retryable', 'It tried a draft. Try the draft again in the editor.')
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
      const started = await counted(
        workspaceId,
        idempotency,
        async () => target && checkInput(target.inputs, await inputOf(view)),
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
      if (started.replayed) noteReplayed(ctx)
      return { execution_id: started.executionId, status: 'queued' as const }
    },

    async listEvents(ctx: Context, { execution_id, after, limit, cursor }: ById & z.output<typeof eventsQuery>) {
      const key = decodeCursor(cursor, 1)
      const from = typeof key?.[0] === 'number' ? key[0] : after
      const events = await engine.readEvents(ctx.workspace.workspace_id, execution_id, from, limit + 1)
      return toPage(events, limit, (event) => [event.seq])
    },

    createTicket: (ctx: Context, { execution_id }: ById): Promise<IssuedTicket> =>
      issueTicket(ctx, {
        kind: 'execution',
        resource: execution_id,
        path: `/ws/executions/${toWire('exe', execution_id)}`,
      }),

    /** A large output, as it was stored. Only what this execution itself refers to can be asked for. */
    async readBlob(
      ctx: Context,
      { execution_id, sha256 }: ById & { sha256: string },
      exchange: Exchange,
    ): Promise<void> {
      await sendStoredJson(exchange, await views.blob(await read(ctx, execution_id), sha256))
    },
  }
}

type SearchInput = ExecutionListQuery & {
  status?: string[] | undefined
  workflow_id?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  trigger?: TriggerKind[] | undefined
  include_jobs?: boolean | undefined
  include_trials?: boolean | undefined
  q?: string | undefined
  error_code?: string | undefined
  node_id?: string | undefined
  tag?: string[] | undefined
  version_id?: string | undefined
}

/** What is left of the query are fields of the input and of the metadata. */
function contentOf(input: SearchInput): Content {
  const {
    limit: _limit,
    cursor: _cursor,
    sort: _sort,
    created_after: _after,
    created_before: _before,
    status: _status,
    workflow_id: _workflow,
    from: _from,
    to: _to,
    trigger: _trigger,
    include_jobs: _jobs,
    include_trials: _trials,
    q,
    error_code,
    node_id,
    tag = [],
    version_id,
    ...more
  } = input
  const fields = fieldsOf(more)
  const labels = [
    ...tag.map((one) => `tag:${one}`),
    ...(error_code === undefined ? [] : [`error:${error_code}`]),
    ...(node_id === undefined ? [] : [`node:${node_id}`]),
    ...fields.labels,
  ]
  return { labels, input: fields.input, q: q ?? null, versionId: version_id ?? null }
}

function wantedTriggers({
  include_jobs,
  include_trials,
}: {
  include_jobs?: boolean | undefined
  include_trials?: boolean | undefined
}): TriggerKind[] | null {
  if (include_jobs) return include_trials ? null : NOT_TRIALS
  return include_trials ? [...NOT_JOBS, 'trial'] : NOT_JOBS
}

export type Executions = ReturnType<typeof makeExecutions>
