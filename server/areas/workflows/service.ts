import type { z } from 'zod'
import { checkShares, replaceShares } from '#areas/teams/shares'
import { type FindAccessLevel, requireAccessLevel } from '#platform/access/check'
import type { AccessLevel } from '#platform/access/rules'
import { recordAudit } from '#platform/audit'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import { invalid, problem, unknownReference } from '#platform/errors'
import { countsOf, forEachId } from '#platform/http/bulk'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { encodeCursor, peekCursor } from '#platform/http/page'
import { newId, toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { withActivity } from './activity.ts'
import { makeDefinitionCheck } from './definition-check.ts'
import { type ById, type Deps, refuseSystem, type SystemWorkflows, type WorkflowDependencies } from './dependencies.ts'
import { checkFlow } from './flow-settings.ts'
import { getWorkflow, systemView } from './get-workflow.ts'
import { mayRun } from './rights.ts'
import type { DeleteWorkflows, NewWorkflow, Workflow, WorkflowMade, WorkflowPatch } from './schema.ts'
import * as store from './store.ts'
import type { SystemWorkflow } from './system.ts'
import { offerTo } from './transfers.ts'
import {
  activateVersion,
  addVersion,
  createVersion,
  diffVersions,
  getVersion,
  listVersions,
  makeActive,
  warningsOf,
} from './versions.ts'

export const makeAccessLevelInWorkflow =
  (system: SystemWorkflows): FindAccessLevel =>
  async (ctx, workflowId) => {
    if (ctx.maybeWorkspace === null) return undefined
    if (system.has(workflowId)) return ctx.workspace.role === 'guest' ? undefined : 'viewer'
    if (!isUuid(workflowId)) return undefined
    const rights = await store.findRights(ctx.tx, ctx.workspace.workspace_id, workflowId, ctx.person.user_id)
    return rights && accessLevelFrom(ctx, rights)
  }

/** Returns the role of a person in a stored workflow, from their rights. */
export function accessLevelFrom(ctx: Context, rights: store.Rights): AccessLevel | undefined {
  if (rights.owner_id === ctx.person.user_id) return 'owner'
  return rights.role ?? (ctx.workspace.role === 'guest' ? undefined : 'visible')
}

const isUuid = (text: string): boolean => text.length === 36 && text[8] === '-'

async function checkPeople(ctx: Context, members: { user_id: string }[] | null | undefined): Promise<void> {
  if (!members || members.length === 0) return
  const ids = members.map(({ user_id }) => user_id)
  const unknown = await store.findUnknownPeople(ctx.tx, ctx.workspace.workspace_id, ids)
  if (unknown.length > 0) throw unknownReference(...unknown.map((position) => `/members/${position}/user_id`))
  const repeated = ids.findIndex((userId, position) => ids.indexOf(userId) !== position)
  if (repeated !== -1) throw invalid([{ path: `/members/${repeated}/user_id`, message: 'is named twice' }])
}

/** Refuses a suite of another workflow. */
async function checkSuite(
  proofs: Deps['proofs'],
  ctx: Context,
  suiteId: string | undefined,
  present: Workflow | undefined,
): Promise<void> {
  if (suiteId === undefined) return
  const { workspace_id: workspaceId } = ctx.workspace
  const isKnown =
    present !== undefined && (await proofs.hasSuite(ctx.tx, { workspaceId, workflowId: present.workflow_id, suiteId }))
  if (!isKnown) throw unknownReference('/settings/activation/suite_id')
}

async function checkSettings(
  { retentionDays, proofs }: Pick<Deps, 'retentionDays' | 'proofs'>,
  ctx: Context,
  settings: store.SettingsPatch | null | undefined,
  present?: Workflow,
): Promise<void> {
  const days = settings?.retention_days
  if (days != null && days > retentionDays && days !== present?.settings.retention_days) {
    const message = `must be at most ${retentionDays} (HEDDLE_RETENTION_DAYS)`
    throw invalid([{ path: '/settings/retention_days', message }])
  }
  await checkSuite(proofs, ctx, settings?.activation?.suite_id, present)
  checkFlow({ ...present?.settings, ...settings })
  const errorWorkflow = settings?.error_workflow_id
  if (errorWorkflow == null || errorWorkflow === present?.settings.error_workflow_id) return
  if (errorWorkflow === present?.workflow_id)
    throw invalid([{ path: '/settings/error_workflow_id', message: 'must be another workflow' }])
  if (!(await mayRun(ctx.tx, ctx.workspace.workspace_id, errorWorkflow, ctx.person.user_id)))
    throw unknownReference('/settings/error_workflow_id')
}

type WorkflowsAsked = ListInput &
  store.Only & { scope?: 'own' | 'workspace' | undefined; owner_id?: unknown; include?: 'activity' | undefined }

const systemInCursor = (system: SystemWorkflows, cursor: string | undefined): string | undefined => {
  const slug = cursor === undefined ? undefined : peekCursor(cursor)?.[0]
  return typeof slug === 'string' && system.has(slug) ? slug : undefined
}

/**
 * Returns the requested system workflows that have not been listed yet. They come first in every order, and have no
 * owner and no creation time.
 */
function systemFor(system: SystemWorkflows, asked: WorkflowsAsked): SystemWorkflow[] {
  if (asked.created_after ?? asked.created_before ?? asked.owner_id ?? asked.tag ?? asked.state) return []
  const q = asked.q?.toLowerCase() ?? ''
  const found = [...system.values()].filter(({ name, description }) =>
    `${name}\n${description}`.toLowerCase().includes(q),
  )
  if (asked.cursor === undefined) return found
  const last = systemInCursor(system, asked.cursor)
  return last === undefined ? [] : found.slice(found.findIndex(({ slug }) => slug === last) + 1)
}

export async function listWorkflows(deps: Deps, ctx: Context, { include, ...asked }: WorkflowsAsked) {
  const found = await findWorkflows(deps, ctx, asked)
  return include === undefined ? found : { ...found, items: await withActivity(ctx, found.items) }
}

async function findWorkflows({ system }: Deps, ctx: Context, { scope, ...asked }: WorkflowsAsked) {
  const userId = scope === 'workspace' && ctx.workspace.role !== 'guest' ? null : ctx.person.user_id
  const first = systemFor(system, asked)
  const shown = first.slice(0, asked.limit).map(systemView)
  const left = asked.limit - shown.length
  const rest = {
    ...asked,
    limit: Math.max(1, left),
    cursor: systemInCursor(system, asked.cursor) === undefined ? asked.cursor : undefined,
  }
  const stored = await store.listWorkflows(ctx.tx, ctx.workspace.workspace_id, userId, rest, asked)
  if (left > 0) return { items: [...shown, ...stored.items], next_cursor: stored.next_cursor }
  const more = first.length > asked.limit || stored.items.length > 0
  return { items: shown, next_cursor: more ? encodeCursor([shown.at(-1)!.workflow_id]) : null }
}

export async function createWorkflow(deps: Deps, ctx: Context, input: NewWorkflow): Promise<WorkflowMade> {
  const workspaceId = ctx.workspace.workspace_id
  const definition =
    input.definition === undefined || input.definition === null
      ? undefined
      : await deps.checkDefinition(ctx, input.definition)
  const members = input.members?.filter(({ user_id }) => user_id !== ctx.person.user_id)
  await checkPeople(ctx, members)
  await checkShares(ctx.tx, workspaceId, input.teams)
  await checkSettings(deps, ctx, input.settings)
  const workflow_id = newId()
  await store.insertWorkflow(ctx.tx, workspaceId, {
    workflow_id,
    owner_id: ctx.person.user_id,
    name: input.name,
    description: input.description ?? null,
    tags: input.tags ?? [],
    settings: input.settings ?? {},
  })
  if (members) await store.replaceMembers(ctx.tx, workspaceId, workflow_id, members)
  if (input.teams) await replaceShares(ctx.tx, workspaceId, 'workflow_id', workflow_id, input.teams)
  if (definition) {
    const version = await addVersion(ctx, workflow_id, definition, null)
    await makeActive(ctx, workflow_id, version)
  }
  const workflow = await getWorkflow(deps, ctx, { workflow_id })
  return { ...workflow, ...(definition && (await warningsOf(ctx, workflow, definition))) }
}

export async function updateWorkflow(
  deps: Deps,
  ctx: Context,
  { workflow_id, members, teams, owner_id, ...patch }: ById & WorkflowPatch,
): Promise<Workflow> {
  refuseSystem(deps.system, workflow_id)
  const workspaceId = ctx.workspace.workspace_id
  const present = await getWorkflow(deps, ctx, { workflow_id })
  const owner = present.owner_id!
  const wanted = members === undefined ? undefined : (members ?? []).filter(({ user_id }) => user_id !== owner)
  const isShared = wanted !== undefined || teams !== undefined
  if (owner !== ctx.person.user_id && (isShared || (owner_id !== undefined && owner_id !== owner)))
    throw problem('forbidden', 'Only the owner may change the members and the owner of the workflow.')
  await checkPeople(ctx, wanted)
  await checkShares(ctx.tx, workspaceId, teams)
  await checkSettings(deps, ctx, patch.settings, present)
  await store.updateWorkflow(ctx.tx, workspaceId, workflow_id, patch)
  if (patch.settings !== undefined) store.hintSettings(ctx.tx, workspaceId, workflow_id)
  if (owner_id !== undefined && owner_id !== owner) await offerTo(ctx, { workflow_id, user_id: owner_id }, '/owner_id')
  if (wanted) await store.replaceMembers(ctx.tx, workspaceId, workflow_id, wanted)
  if (teams !== undefined) await replaceShares(ctx.tx, workspaceId, 'workflow_id', workflow_id, teams ?? [])
  if (isShared) {
    await recordAudit(ctx, ctx.tx, {
      action: 'workflow.members_changed',
      subject: toWire('wf', workflow_id),
      data: { owner_id: toWire('usr', owner) },
    })
  }
  return getWorkflow(deps, ctx, { workflow_id })
}

/** Pauses a workflow: no execution starts, and requested executions wait. */
export async function pauseWorkflow(deps: Deps, ctx: Context, { workflow_id }: ById): Promise<Workflow> {
  refuseSystem(deps.system, workflow_id)
  await store.setPaused(ctx.tx, ctx.workspace.workspace_id, workflow_id, true)
  return getWorkflow(deps, ctx, { workflow_id })
}

export async function resumeWorkflow(deps: Deps, ctx: Context, { workflow_id }: ById): Promise<Workflow> {
  refuseSystem(deps.system, workflow_id)
  await store.setPaused(ctx.tx, ctx.workspace.workspace_id, workflow_id, false)
  return getWorkflow(deps, ctx, { workflow_id })
}

export async function deleteWorkflow(
  deps: Deps,
  ctx: Context,
  { workflow_id, cancel_runs }: ById & { cancel_runs: boolean },
): Promise<void> {
  refuseSystem(deps.system, workflow_id)
  const workspaceId = ctx.workspace.workspace_id
  await store.lockWorkflow(ctx.tx, workspaceId, workflow_id)
  const live = await store.countLiveExecutions(ctx.tx, workspaceId, workflow_id)
  if (live > 0 && !cancel_runs) {
    throw problem(
      'runs_live',
      `${live} of its executions have not ended. Wait for them, or repeat with ?cancel_runs=true.`,
    )
  }
  await store.markDeleted(ctx.tx, workspaceId, workflow_id)
  ctx.tx.hint(TOKENS_CHANGED, workflow_id)
  if (live > 0) {
    const by = toWire('usr', ctx.person.user_id)
    await store.cancelLiveExecutions(ctx.tx, { workspaceId, workflowId: workflow_id }, { by, reason: null })
  }
  for (const alsoDo of deps.onDeleted) await alsoDo(ctx.tx, workspaceId, workflow_id)
  await recordAudit(ctx, ctx.tx, { action: 'workflow.deleted', subject: toWire('wf', workflow_id) })
}

/** Deletes each workflow separately. Workflows that cannot be deleted remain. */
export async function deleteWorkflows(
  deps: Deps,
  ctx: Context,
  { workflow_ids, cancel_runs }: z.output<typeof DeleteWorkflows>,
) {
  const standingIn = makeAccessLevelInWorkflow(deps.system)
  const answer = await forEachId('workflow_id', workflow_ids, async (workflow_id) => {
    await requireAccessLevel(ctx, 'workflow', standingIn, workflow_id, 'owner')
    await deleteWorkflow(deps, ctx, { workflow_id, cancel_runs })
  })
  await recordAudit(ctx, ctx.tx, { action: 'workflows.deleted', data: countsOf(answer.items) })
  return answer
}

const verbsOfWorkflows = {
  getWorkflow,
  listWorkflows,
  createWorkflow,
  updateWorkflow,
  pauseWorkflow,
  resumeWorkflow,
  deleteWorkflow,
  deleteWorkflows,
  listVersions,
  createVersion,
  activateVersion,
}

export function makeWorkflows(dependencies: WorkflowDependencies) {
  const checkDefinition = makeDefinitionCheck(dependencies)
  const verbs = bindVerbs<Deps, typeof verbsOfWorkflows>({ ...dependencies, checkDefinition }, verbsOfWorkflows)
  return { ...verbs, getVersion, diffVersions, checkDefinition }
}

export type Workflows = ReturnType<typeof makeWorkflows>
