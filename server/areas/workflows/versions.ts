import { createHash } from 'node:crypto'
import { warnOfUnknownVariables } from '#areas/variables/service'
import { definitionText } from '#model/canonical'
import type { Definition, Json } from '#model/definition'
import { diffDefinitions } from '#model/graph-diff'
import { unusableDefaults } from '#model/question-defaults'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { type ActivationRule, requireProof } from './activation.ts'
import { type ById, type Deps, refuseSystem } from './dependencies.ts'
import { type DefinitionWarning, warnOfUnopenableGates } from './gate-warnings.ts'
import { getWorkflow } from './get-workflow.ts'
import { warnOfPlaceholders } from './placeholder-warnings.ts'
import type { NewVersion, Version, VersionMade } from './schema.ts'
import * as store from './store.ts'

// The versions of a workflow: save, read, activate, compare.

export async function addVersion(
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

export async function makeActive(
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

/** Returns warnings about a definition. Viewers do not count as starters, since they cannot start a workflow. */
export async function warningsOf(
  ctx: Context,
  { workflow_id, owner_id }: { workflow_id: string; owner_id?: string | null | undefined },
  definition: Definition,
): Promise<{ warnings?: DefinitionWarning[] }> {
  const others = await store.listStarters(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  const starters = [owner_id, ...others.map(({ user_id }) => user_id)]
  const wire = starters.flatMap((userId) => (userId ? [toWire('usr', userId)] : []))
  const warnings = [
    ...warnOfUnopenableGates(definition, wire),
    ...warnOfPlaceholders(definition),
    ...unusableDefaults(definition).map(({ path, message }) => ({ path: `/definition${path}`, message })),
    ...(await warnOfUnknownVariables(ctx.tx, ctx.workspace.workspace_id, definition)),
  ]
  return warnings.length > 0 ? { warnings } : {}
}

export async function listVersions({ system }: Deps, ctx: Context, { workflow_id, ...asked }: ById & ListInput) {
  if (system.has(workflow_id)) return { items: [], next_cursor: null }
  return store.listVersions(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)
}

export async function createVersion(
  deps: Deps,
  ctx: Context,
  { workflow_id, definition, note, activate }: ById & NewVersion,
): Promise<VersionMade> {
  refuseSystem(deps.system, workflow_id)
  const workspaceId = ctx.workspace.workspace_id
  const checked = await deps.checkDefinition(ctx, definition)
  await store.lockWorkflow(ctx.tx, workspaceId, workflow_id)
  const warnings = await warningsOf(ctx, await getWorkflow(deps, ctx, { workflow_id }), checked)
  const version = await addVersion(ctx, workflow_id, checked, note ?? null)
  if (version.number > 1 && !activate) return { ...version, ...warnings }
  await proveVersion(deps, ctx, workflow_id, version.version_id)
  await makeActive(ctx, workflow_id, version)
  return { ...version, active: true, activated_by: ctx.person.user_id, ...warnings }
}

export async function getVersion(ctx: Context, { workflow_id, version_id }: ById & { version_id: string }) {
  const version = await store.findVersion(ctx.tx, ctx.workspace.workspace_id, workflow_id, version_id)
  if (!version) throw problem('not_found')
  return version
}

async function proveVersion(deps: Deps, ctx: Context, workflowId: string, versionId: string): Promise<void> {
  const { settings } = await getWorkflow(deps, ctx, { workflow_id: workflowId })
  await requireProof(deps.proofs, ctx, settings.activation as ActivationRule | undefined, { workflowId, versionId })
}

export async function activateVersion(
  deps: Deps,
  ctx: Context,
  { workflow_id, version_id }: ById & { version_id: string },
): Promise<Version> {
  refuseSystem(deps.system, workflow_id)
  await store.lockWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  const version = await getVersion(ctx, { workflow_id, version_id })
  await proveVersion(deps, ctx, workflow_id, version_id)
  await makeActive(ctx, workflow_id, version)
  return { ...version, active: true, activated_by: ctx.person.user_id }
}

export async function diffVersions(
  ctx: Context,
  { workflow_id, version_a, version_b }: ById & { version_a: string; version_b: string },
) {
  const from = await getVersion(ctx, { workflow_id, version_id: version_a })
  const to = await getVersion(ctx, { workflow_id, version_id: version_b })
  return { from: version_a, to: version_b, ...diffDefinitions(from.definition as never, to.definition as never) }
}
