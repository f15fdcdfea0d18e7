import { createHash } from 'node:crypto'
import { checkShares, replaceShares } from '#areas/teams/shares'
import { warnOfUnknownVariables } from '#areas/variables/service'
import { definitionText } from '#model/canonical'
import type { Definition, Json } from '#model/definition'
import { diffDefinitions } from '#model/graph-diff'
import type { StandingIn } from '#platform/access/check'
import type { Standing } from '#platform/access/words'
import { recordAudit } from '#platform/audit'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId, toWire } from '#platform/ids'
import { type DefinitionCheckDependencies, makeDefinitionCheck } from './definition-check.ts'
import { type DefinitionWarning, warnOfUnopenableGates } from './gate-warnings.ts'
import { mayRun } from './rights.ts'
import type { NewVersion, NewWorkflow, Version, VersionMade, Workflow, WorkflowMade, WorkflowPatch } from './schema.ts'
import * as store from './store.ts'
import type { SystemWorkflow } from './system.ts'
import { offerTo } from './transfers.ts'

type ById = { workflow_id: string }

export type WorkflowDependencies = DefinitionCheckDependencies & {
  /** What else must happen in the transaction that deletes a workflow (jobs pause). */
  onDeleted: ((tx: Tx, workspaceId: string, workflowId: string) => Promise<void>)[]
  /** How long the service keeps ended executions: none can ask for more. */
  retentionDays: number
}

export const makeStandingInWorkflow =
  (system: ReadonlyMap<string, SystemWorkflow>): StandingIn =>
  async (ctx, workflowId) => {
    if (ctx.maybeWorkspace === null) return undefined
    if (system.has(workflowId)) return ctx.workspace.role === 'guest' ? undefined : 'viewer'
    if (!isUuid(workflowId)) return undefined
    const rights = await store.findRights(ctx.tx, ctx.workspace.workspace_id, workflowId, ctx.person.user_id)
    return rights && standingFrom(ctx, rights)
  }

/** What the rights of a person in a stored workflow come to. */
export function standingFrom(ctx: Context, rights: store.Rights): Standing | undefined {
  if (rights.owner_id === ctx.person.user_id) return 'owner'
  return rights.role ?? (ctx.workspace.role === 'guest' ? undefined : 'visible')
}

const isUuid = (text: string): boolean => text.length === 36 && text[8] === '-'

export function makeWorkflows(dependencies: WorkflowDependencies) {
  const { system, retentionDays } = dependencies

  const checkDefinition = makeDefinitionCheck(dependencies)

  async function checkPeople(ctx: Context, members: { user_id: string }[] | null | undefined): Promise<void> {
    if (!members || members.length === 0) return
    const ids = members.map(({ user_id }) => user_id)
    const unknown = await store.findUnknownPeople(ctx.tx, ctx.workspace.workspace_id, ids)
    if (unknown.length > 0) throw unknownReference(...unknown.map((position) => `/members/${position}/user_id`))
    const repeated = ids.findIndex((userId, position) => ids.indexOf(userId) !== position)
    if (repeated !== -1) throw invalid([{ path: `/members/${repeated}/user_id`, message: 'is named twice' }])
  }

  async function checkSettings(
    ctx: Context,
    settings: store.SettingsPatch | null | undefined,
    present?: Workflow,
  ): Promise<void> {
    const days = settings?.retention_days
    if (days != null && days > retentionDays && days !== present?.settings.retention_days) {
      const message = `must be at most ${retentionDays} (HEDDLE_RETENTION_DAYS)`
      throw invalid([{ path: '/settings/retention_days', message }])
    }
    const errorWorkflow = settings?.error_workflow_id
    if (errorWorkflow == null || errorWorkflow === present?.settings.error_workflow_id) return
    if (errorWorkflow === present?.workflow_id)
      throw invalid([{ path: '/settings/error_workflow_id', message: 'must be another workflow' }])
    if (!(await mayRun(ctx.tx, ctx.workspace.workspace_id, errorWorkflow, ctx.person.user_id)))
      throw unknownReference('/settings/error_workflow_id')
  }

  async function addVersion(
    ctx: Context,
    workflowId: string,
    definition: Definition,
    note: string | null,
  ): Promise<Version> {
    return store.insertVersion(ctx.tx, ctx.workspace.workspace_id, {
      version_id: newId(),
      workflow_id: workflowId,
      definition: definition as unknown as Json,
      sha256: createHash('sha256').update(definitionText(definition)).digest('hex'),
      note,
      created_by: ctx.person.user_id,
    })
  }

  async function makeActive(
    ctx: Context,
    workflowId: string,
    version: Pick<Version, 'version_id' | 'number'>,
  ): Promise<void> {
    await store.activateVersion(ctx.tx, ctx.workspace.workspace_id, workflowId, version.version_id, ctx.person.user_id)
    await recordAudit(ctx, ctx.tx, {
      action: 'version.activated',
      subject: toWire('wf', workflowId),
      data: { version_id: toWire('wfv', version.version_id), number: version.number },
    })
  }

  /** The system workflows come first, and are continued after by their slug. */
  function placeOf(cursor: string | undefined): { system: SystemWorkflow[]; before: string | null } {
    const ofSystem = [...system.values()]
    const [last] = decodeCursor(cursor, 1) ?? []
    if (last === undefined) return { system: ofSystem, before: null }
    const at = ofSystem.findIndex(({ slug }) => slug === last)
    return at === -1 ? { system: [], before: decodeIdCursor(cursor) } : { system: ofSystem.slice(at + 1), before: null }
  }

  async function getVersion(ctx: Context, { workflow_id, version_id }: ById & { version_id: string }) {
    const version = await store.findVersion(ctx.tx, ctx.workspace.workspace_id, workflow_id, version_id)
    if (!version) throw problem('not_found')
    return version
  }

  async function getWorkflow(ctx: Context, { workflow_id }: ById): Promise<Workflow> {
    const known = system.get(workflow_id)
    if (known) return { ...systemView(known), definition: known.definition as never }
    const workflow = await store.findWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
    if (!workflow) throw problem('not_found')
    return workflow
  }

  const refuseSystem = (workflowId: string): void => {
    if (system.has(workflowId))
      throw problem('forbidden', 'A system workflow is part of the program and cannot be changed.')
  }

  return {
    getWorkflow,

    async listWorkflows(
      ctx: Context,
      { cursor, limit, scope }: ListQuery & { scope?: 'own' | 'workspace' | undefined },
    ) {
      const from = placeOf(cursor)
      const userId = scope === 'workspace' && ctx.workspace.role !== 'guest' ? null : ctx.person.user_id
      const stored = await store.listWorkflows(ctx.tx, ctx.workspace.workspace_id, userId, from.before, limit)
      return toPage([...from.system.map(systemView), ...stored], limit, (row) => [row.workflow_id])
    },

    async createWorkflow(ctx: Context, input: NewWorkflow): Promise<WorkflowMade> {
      const workspaceId = ctx.workspace.workspace_id
      const definition =
        input.definition === undefined || input.definition === null
          ? undefined
          : await checkDefinition(ctx, input.definition)
      const members = input.members?.filter(({ user_id }) => user_id !== ctx.person.user_id)
      await checkPeople(ctx, members)
      await checkShares(ctx.tx, workspaceId, input.teams)
      await checkSettings(ctx, input.settings)
      const workflow_id = newId()
      await store.insertWorkflow(ctx.tx, workspaceId, {
        workflow_id,
        owner_id: ctx.person.user_id,
        name: input.name,
        description: input.description ?? null,
        settings: input.settings ?? {},
      })
      if (members) await store.replaceMembers(ctx.tx, workspaceId, workflow_id, members)
      if (input.teams) await replaceShares(ctx.tx, workspaceId, 'workflow_id', workflow_id, input.teams)
      if (definition) {
        const version = await addVersion(ctx, workflow_id, definition, null)
        await makeActive(ctx, workflow_id, version)
      }
      const workflow = await getWorkflow(ctx, { workflow_id })
      return { ...workflow, ...(definition && (await warningsOf(ctx, workflow, definition))) }
    },

    async updateWorkflow(
      ctx: Context,
      { workflow_id, members, teams, owner_id, ...patch }: ById & WorkflowPatch,
    ): Promise<Workflow> {
      refuseSystem(workflow_id)
      const workspaceId = ctx.workspace.workspace_id
      const present = await getWorkflow(ctx, { workflow_id })
      const owner = present.owner_id!
      const wanted = members === undefined ? undefined : (members ?? []).filter(({ user_id }) => user_id !== owner)
      const isShared = wanted !== undefined || teams !== undefined
      if (owner !== ctx.person.user_id && (isShared || (owner_id !== undefined && owner_id !== owner)))
        throw problem('forbidden', 'Only the owner says who may use the workflow, and who owns it.')
      await checkPeople(ctx, wanted)
      await checkShares(ctx.tx, workspaceId, teams)
      await checkSettings(ctx, patch.settings, present)
      await store.updateWorkflow(ctx.tx, workspaceId, workflow_id, patch)
      if (owner_id !== undefined && owner_id !== owner)
        await offerTo(ctx, { workflow_id, user_id: owner_id }, '/owner_id')
      if (wanted) await store.replaceMembers(ctx.tx, workspaceId, workflow_id, wanted)
      if (teams !== undefined) await replaceShares(ctx.tx, workspaceId, 'workflow_id', workflow_id, teams ?? [])
      if (isShared) {
        await recordAudit(ctx, ctx.tx, {
          action: 'workflow.members_changed',
          subject: toWire('wf', workflow_id),
          data: { owner_id: toWire('usr', owner) },
        })
      }
      return getWorkflow(ctx, { workflow_id })
    },

    async deleteWorkflow(ctx: Context, { workflow_id, cancel_runs }: ById & { cancel_runs: boolean }): Promise<void> {
      refuseSystem(workflow_id)
      const workspaceId = ctx.workspace.workspace_id
      await store.lockWorkflow(ctx.tx, workspaceId, workflow_id)
      const live = await store.listLiveExecutions(ctx.tx, workspaceId, workflow_id)
      if (live.length > 0 && !cancel_runs) {
        throw problem(
          'runs_live',
          `${live.length} of its executions are live. Wait for them, or repeat with ?cancel_runs=true.`,
        )
      }
      await store.markDeleted(ctx.tx, workspaceId, workflow_id)
      ctx.tx.hint(TOKENS_CHANGED, workflow_id)
      if (live.length > 0)
        await store.cancelLiveExecutions(ctx.tx, workspaceId, workflow_id, toWire('usr', ctx.person.user_id))
      for (const alsoDo of dependencies.onDeleted) await alsoDo(ctx.tx, workspaceId, workflow_id)
      await recordAudit(ctx, ctx.tx, { action: 'workflow.deleted', subject: toWire('wf', workflow_id) })
    },

    async listVersions(ctx: Context, { workflow_id, cursor, limit }: ById & ListQuery) {
      if (system.has(workflow_id)) return { items: [], next_cursor: null }
      const key = decodeCursor(cursor, 1)
      if (key && typeof key[0] !== 'number')
        throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
      const rows = await store.listVersions(
        ctx.tx,
        ctx.workspace.workspace_id,
        workflow_id,
        (key?.[0] as number | undefined) ?? null,
        limit,
      )
      return toPage(rows, limit, (row) => [row.number])
    },

    async createVersion(
      ctx: Context,
      { workflow_id, definition, note, activate }: ById & NewVersion,
    ): Promise<VersionMade> {
      refuseSystem(workflow_id)
      const workspaceId = ctx.workspace.workspace_id
      const checked = await checkDefinition(ctx, definition)
      await store.lockWorkflow(ctx.tx, workspaceId, workflow_id)
      const warnings = await warningsOf(ctx, await getWorkflow(ctx, { workflow_id }), checked)
      const version = await addVersion(ctx, workflow_id, checked, note ?? null)
      if (version.number > 1 && !activate) return { ...version, ...warnings }
      await makeActive(ctx, workflow_id, version)
      return { ...version, active: true, activated_by: ctx.person.user_id, ...warnings }
    },

    getVersion,

    async activateVersion(ctx: Context, { workflow_id, version_id }: ById & { version_id: string }): Promise<Version> {
      refuseSystem(workflow_id)
      await store.lockWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
      const version = await getVersion(ctx, { workflow_id, version_id })
      await makeActive(ctx, workflow_id, version)
      return { ...version, active: true, activated_by: ctx.person.user_id }
    },

    async diffVersions(
      ctx: Context,
      { workflow_id, version_a, version_b }: ById & { version_a: string; version_b: string },
    ) {
      const from = await getVersion(ctx, { workflow_id, version_id: version_a })
      const to = await getVersion(ctx, { workflow_id, version_id: version_b })
      return { from: version_a, to: version_b, ...diffDefinitions(from.definition as never, to.definition as never) }
    },

    checkDefinition,
  }
}

/** Viewers see a workflow and cannot start it. */
async function warningsOf(
  ctx: Context,
  { workflow_id, owner_id }: Workflow,
  definition: Definition,
): Promise<{ warnings?: DefinitionWarning[] }> {
  const others = await store.listStarters(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  const starters = [owner_id, ...others.map(({ user_id }) => user_id)]
  const wire = starters.flatMap((userId) => (userId ? [toWire('usr', userId)] : []))
  const warnings = [
    ...warnOfUnopenableGates(definition, wire),
    ...(await warnOfUnknownVariables(ctx.tx, ctx.workspace.workspace_id, definition)),
  ]
  return warnings.length > 0 ? { warnings } : {}
}

const systemView = (workflow: SystemWorkflow): Workflow => ({
  workflow_id: workflow.slug,
  kind: 'system',
  name: workflow.name,
  description: workflow.description,
  owner_id: null,
  members: [],
  teams: [],
  role: null,
  active_version_id: null,
  activation_required: false,
  pending_owner_id: null,
  settings: {},
  created_at: null,
  updated_at: null,
})

export type Workflows = ReturnType<typeof makeWorkflows>
