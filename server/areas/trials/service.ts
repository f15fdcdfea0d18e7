import { checkInputInTurn, endedInTime, idempotencyOf, type TakeFiles } from '#areas/executions/start'
import type { Views } from '#areas/executions/view'
import { serviceAccountInitiator } from '#engine/initiators'
import type { Engine } from '#engine/ports'
import { planTrial, type TrialPlan } from '#engine/trying/plan'
import type { Turns } from '#engine/worker/turns'
import type { Definition, Json, JsonObject } from '#model/definition'
import type { Kinds } from '#model/graph'
import { jsonSize } from '#model/size'
import { type FieldError, invalid, problem } from '#platform/errors'
import { type Context, inTransaction, scopeOf } from '#platform/http/context'
import { markReplayed } from '#platform/http/idempotency'
import type { Exchange } from '#platform/http/route'
import { newId, toWire } from '#platform/ids'
import type { Trial, Tried, TryBody } from './schema.ts'
import * as store from './store.ts'

export { findPlanned, insertTrial, loadTrial } from './store.ts'

// Runs a draft without creating a version. The execution has the rights of the person who tries the draft, and no more.

const MAX_PINNED_BYTES = 4 * 1024 * 1024
/** Trials are free and do not count against the plan, so this limit keeps them from replacing regular executions. */
const MAX_TRIALS_A_DAY = 2_000

export type TrialDependencies = {
  engine: Pick<Engine, 'start' | 'startedBefore' | 'waitFor'>
  views: Pick<Views, 'whole'>
  turns: Pick<Turns, 'next'>
  takeFiles: TakeFiles
  kinds(): Kinds
  checkDefinition(ctx: Context, given: unknown): Promise<Definition>
}

export type TryInput = { workflow_id: string; wait_s: number } & TryBody

export async function tryWorkflow(
  deps: TrialDependencies,
  ctx: Context,
  input: TryInput,
  exchange: Exchange,
): Promise<Tried> {
  const workspaceId = ctx.workspace.workspace_id
  const idempotency = idempotencyOf(
    ctx,
    Buffer.concat([Buffer.from(`${exchange.request.method} ${exchange.request.url}\n`), exchange.request.rawBody]),
  )
  const executionId = newId()
  const before = idempotency && (await deps.engine.startedBefore(workspaceId, idempotency))
  if (before) return answerRepeated(deps, ctx, before.executionId, input.wait_s)
  const prepared = await ctx.db.tenant(scopeOf(ctx), (tx) => prepare(deps, inTransaction(ctx, tx), input))
  const given = (input.input ?? {}) as JsonObject
  if (input.node_id === undefined)
    await checkInputInTurn(deps.turns, workspaceId, { inputs: prepared.draft.inputs ?? true, input: given })
  const { nodes: plan } = prepared.plan
  if (input.dry_run) {
    ctx.status(200)
    return { execution_id: null, status: null, plan, execution: null }
  }
  await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    if ((await store.countTrials(tx, workspaceId, MAX_TRIALS_A_DAY)) >= MAX_TRIALS_A_DAY)
      throw problem('rate_limited', `A workspace may try drafts ${MAX_TRIALS_A_DAY} times a day.`, {
        retryAfterS: 3600,
      })
    await store.insertTrial(tx, workspaceId, {
      trial_id: executionId,
      workflow_id: input.workflow_id,
      draft: prepared.draft,
      definition: prepared.plan.definition,
      plan,
      effects: input.effects,
      created_by: ctx.person.user_id,
    })
  })
  const { user_id: userId } = ctx.person
  await deps.takeFiles({ workspaceId, executionId, input: given, userId })
  const started = await deps.engine.start({
    executionId,
    workspaceId,
    definitionRef: `trial:${executionId}`,
    workflowId: input.workflow_id,
    versionId: null,
    timeoutS: prepared.timeoutS,
    input: given,
    trigger: { kind: 'trial', id: toWire('usr', userId) },
    startedBy: userId,
    principalId: userId,
    ...(ctx.person.isServiceAccount && { initiatedBy: [serviceAccountInitiator(userId)] }),
    ...(idempotency && { idempotency }),
  })
  if (started.replayed) return answerRepeated(deps, ctx, started.executionId, input.wait_s)
  return answer(deps, ctx, { executionId, plan, waitS: input.wait_s })
}

async function prepare(
  deps: TrialDependencies,
  ctx: Context,
  { workflow_id, definition: given, node_id, until, pinned, effects }: TryInput,
): Promise<{ draft: Definition; plan: TrialPlan; timeoutS: number | null }> {
  const workspaceId = ctx.workspace.workspace_id
  const settings = await store.findSettings(ctx.tx, workspaceId, workflow_id)
  if (!settings) throw problem('forbidden', 'A system workflow is part of the program and has no drafts.')
  const draft = await deps.checkDefinition(ctx, given)
  refuse(errorsIn(draft, { node_id, until, pinned: pinned as JsonObject }))
  const recorded = await store.readRecorded(
    ctx.tx,
    workspaceId,
    workflow_id,
    draft.nodes.map(({ id }) => id),
  )
  const plan = planTrial({
    definition: draft,
    effects,
    pinned: new Map(Object.entries(pinned as JsonObject)),
    recorded,
    descriptorOf: (type) => deps.kinds().get(type),
    only: node_id,
    until,
  })
  refuse(
    plan.unanswered.map((id) => ({ path: `/pinned/${id}`, message: 'is required: nothing is recorded for this node' })),
  )
  return { draft, plan, timeoutS: settings.timeout_s ?? null }
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid(errors.slice(0, 50))
}

function errorsIn(
  { nodes }: Definition,
  { node_id, until, pinned }: { node_id: string | undefined; until: string | undefined; pinned: JsonObject },
): FieldError[] {
  const types = new Map(nodes.map(({ id, type }) => [id, type]))
  const errors: FieldError[] = []
  if (node_id !== undefined && until !== undefined)
    errors.push({ path: '/until', message: 'cannot be combined with node_id' })
  for (const [path, id] of [
    ['/node_id', node_id],
    ['/until', until],
  ] as const)
    if (id !== undefined && !types.has(id)) errors.push({ path, message: 'is not a node of the definition' })
  for (const id of Object.keys(pinned)) {
    if (!types.has(id)) errors.push({ path: `/pinned/${id}`, message: 'is not a node of the definition' })
    if (types.get(id) === 'branch')
      errors.push({
        path: `/pinned/${id}`,
        message: 'is a branch, which is always evaluated; pin the nodes before it instead',
      })
  }
  if (jsonSize(pinned as Json, MAX_PINNED_BYTES) > MAX_PINNED_BYTES)
    errors.push({ path: '/pinned', message: 'must be at most 4 MiB' })
  return errors
}

async function answer(
  deps: TrialDependencies,
  ctx: Context,
  { executionId, plan, waitS }: { executionId: string; plan: Tried['plan']; waitS: number },
): Promise<Tried> {
  const view = await endedInTime(deps.engine, ctx.workspace.workspace_id, executionId, waitS, ctx)
  ctx.status(view ? 200 : 202)
  const execution = view ? await deps.views.whole(view) : null
  return { execution_id: executionId, status: execution?.status ?? 'queued', plan, execution }
}

async function answerRepeated(
  deps: TrialDependencies,
  ctx: Context,
  executionId: string,
  waitS: number,
): Promise<Tried> {
  markReplayed(ctx)
  const trial = await ctx.db.tenant(scopeOf(ctx), (tx) => store.findTrial(tx, ctx.workspace.workspace_id, executionId))
  return answer(deps, ctx, { executionId, plan: trial?.plan ?? [], waitS })
}

export async function getTrial(ctx: Context, { execution_id }: { execution_id: string }): Promise<Trial> {
  const trial = await store.findTrial(ctx.tx, ctx.workspace.workspace_id, execution_id)
  if (!trial) throw problem('not_found')
  return trial
}
