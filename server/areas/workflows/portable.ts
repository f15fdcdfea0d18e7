import { createHash } from 'node:crypto'
import { warnOfUnknownVariables } from '#areas/variables/service'
import { definitionText } from '#model/canonical'
import type { Definition, Json, JsonObject } from '#model/definition'
import type { Kinds } from '#model/graph'
import { idsIn, type Name, type NamedPrefix, nameKinds, namesIn, prefixOf, replaceAt } from '#model/portable'
import { isAtLeast } from '#platform/access/rules'
import { type FieldError, invalid, Problem, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { fromWire, toWire } from '#platform/ids'
import { findByName, findNames } from './naming.ts'
import type { Exported, Imported, ImportRequest } from './schema.ts'
import { accessLevelFrom, type Workflows } from './service.ts'
import { Settings } from './settings-schema.ts'
import * as store from './store.ts'
import type { SystemWorkflow } from './system.ts'

// Moves workflows between workspaces: an export replaces ids by names, and an import binds the names to ids. If names
// are missing or ambiguous, all of them are listed and nothing is created.

export type PortableParts = {
  workflows: Workflows
  kinds: () => Kinds
  system: ReadonlyMap<string, SystemWorkflow>
}

const FORMAT = 'workflow/1'
/**
 * The maximum number of names: twice what the nodes of a workflow can contain. Each name is looked up, and listed if it
 * is missing.
 */
const MAX_NAMES = 1_000

export async function exportWorkflow(
  { workflows, kinds, system }: PortableParts,
  ctx: Context,
  { workflow_id, version_id }: { workflow_id: string; version_id?: string | undefined },
): Promise<Exported> {
  if (system.has(workflow_id))
    throw problem('forbidden', 'A system workflow is part of the program: every workspace has it.')
  const workflow = await workflows.getWorkflow(ctx, { workflow_id })
  const wanted = version_id ?? workflow.active_version_id
  if (wanted === null) throw problem('no_active_version', 'Activate a version of the workflow, or name one.')
  const version = await workflows.getVersion(ctx, { workflow_id, version_id: wanted })
  const { error_workflow_id, ...settings } = workflow.settings
  const part = {
    settings: { ...settings, ...(error_workflow_id && { error_workflow_id: toWire('wf', error_workflow_id) }) },
    definition: version.definition as JsonObject,
  }
  const ids = [
    ...idsIn(part.definition as unknown as Definition, kinds()).map((one) => ({
      ...one,
      path: `/definition${one.path}`,
    })),
    ...(error_workflow_id
      ? [{ path: '/settings/error_workflow_id', prefix: 'wf', id: toWire('wf', error_workflow_id) }]
      : []),
  ].filter(({ id }) => !system.has(id))
  const known = await namesOf(ctx, ids)
  const replacements = new Map<string, Json | undefined>()
  const names: Name[] = []
  const warnings: FieldError[] = []
  for (const { path, prefix, id } of ids) {
    const name = known.get(id)
    if (prefix === 'wfv') {
      replacements.set(path, undefined)
      warnings.push({
        path,
        message: 'A version exists in this workspace only: it is left out, and the active one runs.',
      })
    } else if (name === undefined) {
      warnings.push({
        path,
        message: `${id} was deleted, or you may not see it: the document keeps the id, which an import cannot resolve.`,
      })
    } else {
      const kind = nameKinds[prefix as NamedPrefix]
      replacements.set(path, { $name: name, kind })
      names.push({ path, kind, name })
    }
  }
  const { name, description } = workflow
  const named = replaceAt(part as unknown as Json, replacements) as JsonObject
  return {
    workflow_id,
    version_id: version.version_id,
    sha256: version.sha256,
    document: { heddle: FORMAT, name, description, ...named } as Exported['document'],
    names,
    ...(warnings.length > 0 && { warnings }),
  }
}

async function namesOf(ctx: Context, ids: { prefix: string; id: string }[]): Promise<ReadonlyMap<string, string>> {
  const asked = { workspaceId: ctx.workspace.workspace_id, userId: ctx.person.user_id }
  const names = new Map<string, string>()
  for (const prefix of Object.keys(nameKinds) as NamedPrefix[]) {
    const uuids = ids.flatMap((one) => (one.prefix === prefix ? [fromWire(prefix, one.id) ?? []].flat() : []))
    if (uuids.length === 0) continue
    for (const { id, name } of await findNames(ctx.tx, prefix, asked, uuids)) names.set(toWire(prefix, id), name)
  }
  return names
}

type Bound = Imported['bound']

/** Replaces names by the ids in this workspace. Refuses with the complete list of missing or ambiguous names. */
async function bind(ctx: Context, part: Json): Promise<{ part: Json; bound: Bound }> {
  const asked = { workspaceId: ctx.workspace.workspace_id, userId: ctx.person.user_id }
  const names = [...namesIn(part)]
  if (names.length > MAX_NAMES) throw invalid([{ path: '/document', message: `names at most ${MAX_NAMES} things` }])
  const found = new Map<string, string[]>()
  for (const kind of new Set(names.map((one) => one.kind))) {
    const prefix = prefixOf(kind)
    const wanted = [...new Set(names.filter((one) => one.kind === kind).map(({ name }) => name))]
    for (const { id, name } of await findByName(ctx.tx, prefix, asked, wanted)) {
      const key = `${kind}\n${name}`
      const before = found.get(key)
      if (before) before.push(toWire(prefix, id))
      else found.set(key, [toWire(prefix, id)])
    }
  }
  const replacements = new Map<string, Json>()
  const bound: Bound = []
  const errors: FieldError[] = []
  for (const { path, kind, name } of names) {
    const [id, ...others] = found.get(`${kind}\n${name}`) ?? []
    if (id !== undefined && others.length === 0) {
      replacements.set(path, id)
      bound.push({ path, kind, name, id })
    } else {
      const message =
        id === undefined
          ? `there is no ${kind} "${name}" here that you may use`
          : `${others.length + 1} things of the kind ${kind} here are called "${name}"; rename all but one`
      errors.push({ path: `/document${path}`, message })
    }
  }
  if (errors.length > 0)
    throw new Problem('unknown_reference', 'Add or rename what errors lists, then import again. Nothing was created.', {
      errors,
    })
  return { part: replaceAt(part, replacements), bound }
}

export async function importWorkflow(parts: PortableParts, ctx: Context, input: ImportRequest): Promise<Imported> {
  const { document, note, activate = true, dry_run = false } = input
  const { name, description = null, settings = {}, definition } = document
  if (document.heddle !== undefined && document.heddle !== FORMAT)
    throw invalid([{ path: '/document/heddle', message: `must be ${FORMAT}` }])
  const { part, bound } = await bind(ctx, { settings, definition } as JsonObject)
  const bare = part as { settings: JsonObject; definition: JsonObject }
  const checked = await parts.workflows.checkDefinition(ctx, bare.definition, { path: '/document/definition' })
  const parsed = Settings.safeParse(bare.settings)
  if (!parsed.success)
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({ path: `/document/settings/${path.join('/')}`, message })),
    )
  const sha256 = createHash('sha256').update(definitionText(checked)).digest('hex')
  const present = input.workflow_id === undefined ? undefined : await editable(parts, ctx, input.workflow_id)
  const active = present?.active_version_id
    ? await parts.workflows.getVersion(ctx, {
        workflow_id: present.workflow_id,
        version_id: present.active_version_id,
      })
    : undefined
  if (input.expected_version_id !== undefined && (active?.version_id ?? null) !== input.expected_version_id)
    throw problem('precondition_failed', 'The active version is not the expected one. Export it again first.')
  const fields = { name, description, settings: parsed.data }
  const isRenamed = present !== undefined && differs(fields, present)
  const warnings = await warnOfUnknownVariables(ctx.tx, ctx.workspace.workspace_id, checked)
  const told = { bound, ...(warnings.length > 0 && { warnings }) }
  const changed = active?.sha256 !== sha256
  if (dry_run)
    return {
      workflow_id: present?.workflow_id ?? null,
      version_id: changed ? null : (active?.version_id ?? null),
      created: present === undefined,
      changed: changed || isRenamed,
      ...told,
    }
  if (present === undefined) {
    const made = await parts.workflows.createWorkflow(ctx, { ...fields, definition: bare.definition })
    return { workflow_id: made.workflow_id, version_id: made.active_version_id, created: true, changed: true, ...told }
  }
  const { workflow_id } = present
  if (isRenamed)
    await parts.workflows.updateWorkflow(ctx, {
      workflow_id,
      ...fields,
      settings: { ...Object.fromEntries(Object.keys(present.settings).map((key) => [key, null])), ...fields.settings },
    })
  const version = changed
    ? await parts.workflows.createVersion(ctx, {
        workflow_id,
        definition: bare.definition,
        activate,
        ...(note !== undefined && { note }),
      })
    : active
  return {
    workflow_id,
    version_id: version?.version_id ?? null,
    created: false,
    changed: changed || isRenamed,
    ...told,
  }
}

const differs = (
  { name, description, settings }: { name: string; description: string | null; settings: object },
  present: { name: string; description: string | null; settings: object },
): boolean => {
  const text = (value: object): string => JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return name !== present.name || description !== present.description || text(settings) !== text(present.settings)
}

async function editable(parts: PortableParts, ctx: Context, workflowId: string) {
  const rights = await store.findRights(ctx.tx, ctx.workspace.workspace_id, workflowId, ctx.person.user_id)
  const standing = rights && accessLevelFrom(ctx, rights)
  if (!standing || !isAtLeast(standing, 'editor')) throw unknownReference('/workflow_id')
  return parts.workflows.getWorkflow(ctx, { workflow_id: workflowId })
}
