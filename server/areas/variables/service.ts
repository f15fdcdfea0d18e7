import { hasBadText } from '#engine/text'
import type { Definition, JsonObject } from '#model/definition'
import { isVariableName, MAX_VARIABLE_BYTES, MAX_VARIABLES, MAX_VARIABLES_BYTES, variablesIn } from '#model/variables'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import type { NewVariable, Variable } from './schema.ts'
import * as store from './store.ts'

// Values of a workspace that are not secret. Everyone except guests can read them. Members can add variables and change
// their own; owners of the workspace can change all. Workflows that use a variable rely on the person who set it.

type ByName = { name: string }

export const listVariables = (ctx: Context, asked: ListInput) =>
  store.listVariables(ctx.tx, ctx.workspace.workspace_id, asked)

export const peekVariable = (ctx: Context, { name }: ByName): Promise<Variable | undefined> =>
  store.findVariable(ctx.tx, ctx.workspace.workspace_id, name)

export async function getVariable(ctx: Context, input: ByName): Promise<Variable> {
  const variable = await peekVariable(ctx, input)
  if (!variable) throw problem('not_found')
  return variable
}

export async function putVariable(ctx: Context, { name, value, description }: ByName & NewVariable): Promise<Variable> {
  const { workspace_id } = ctx.workspace
  if (!isVariableName(name))
    throw invalid([
      { path: '/name', message: 'must begin with a letter or _ and hold at most 64 letters, digits and _' },
    ])
  const text = JSON.stringify(value)
  if (hasBadText(text)) throw invalid([{ path: '/value', message: 'contains NUL characters or unpaired surrogates' }])
  await store.lockVariables(ctx.tx, workspace_id)
  const present = await peekVariable(ctx, { name })
  if (present) requireChangeable(ctx, present)
  await checkRoom(ctx, name, Buffer.byteLength(text))
  const variable = await store.putVariable(ctx.tx, workspace_id, {
    name,
    value: text,
    description: description ?? null,
    userId: ctx.person.user_id,
  })
  await recordAudit(ctx, ctx.tx, { action: present ? 'variable.updated' : 'variable.created', data: { name } })
  return variable
}

export async function deleteVariable(ctx: Context, { name }: ByName): Promise<void> {
  await mayDeleteVariable(ctx, { name })
  await store.deleteVariable(ctx.tx, ctx.workspace.workspace_id, name)
  await recordAudit(ctx, ctx.tx, { action: 'variable.deleted', data: { name } })
}

/** Checked before the input is validated, so that a caller without the right learns nothing from validation errors. */
export async function mayPutVariable(ctx: Context, { name }: ByName): Promise<void> {
  const present = await peekVariable(ctx, { name })
  if (present) requireChangeable(ctx, present)
}

export const mayDeleteVariable = async (ctx: Context, input: ByName): Promise<void> =>
  requireChangeable(ctx, await getVariable(ctx, input))

function requireChangeable(ctx: Context, { name, created_by }: Variable): void {
  if (ctx.workspace.role === 'owner' || created_by === ctx.person.user_id) return
  throw problem('forbidden', `Only an owner of the workspace or the person who added ${name} may change it.`)
}

async function checkRoom(ctx: Context, name: string, bytes: number): Promise<void> {
  if (bytes > MAX_VARIABLE_BYTES)
    throw invalid([{ path: '/value', message: `has at most ${MAX_VARIABLE_BYTES} bytes as JSON` }])
  const others = await store.measureOthers(ctx.tx, ctx.workspace.workspace_id, name)
  if (others.count >= MAX_VARIABLES)
    throw invalid([{ path: '/name', message: `a workspace has at most ${MAX_VARIABLES} variables` }])
  if (others.bytes + bytes > MAX_VARIABLES_BYTES)
    throw invalid([
      { path: '/value', message: `the variables of a workspace have at most ${MAX_VARIABLES_BYTES} bytes together` },
    ])
}

/** Reads the values with which an execution starts: of these names, or all if `names` is null. */
export const readVariables = (tx: Tx, workspaceId: string, names: readonly string[] | null): Promise<JsonObject> =>
  store.readValues(tx, workspaceId, names)

/** A warning and not an error: the variable may be added later, and a reference to a missing variable is null. */
export async function warnOfUnknownVariables(
  tx: Tx,
  workspaceId: string,
  definition: Definition,
): Promise<{ path: string; message: string }[]> {
  const named = [...variablesIn(definition as unknown as JsonObject, '/definition')]
  if (named.length === 0) return []
  const known = await store.readValues(tx, workspaceId, [...new Set(named.map(({ name }) => name))])
  return named
    .filter(({ name }) => !Object.hasOwn(known, name))
    .slice(0, 50)
    .map(({ path, name }) => ({ path, message: `The workspace has no variable "${name}". Add it before this runs.` }))
}
