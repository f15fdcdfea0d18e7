import type { z } from 'zod'
import { mintKey } from '#areas/identity/api-keys'
import type { ApiKey, NewServiceAccountKey } from '#areas/identity/schema'
import type { Members } from '#areas/workspaces/members'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { NewServiceAccount, ServiceAccount, ServiceAccountPatch } from './schema.ts'
import * as store from './store.ts'

// Accounts of programs: members of one workspace that belong to the workspace and not to a person. They have keys and
// cannot sign in.

/** A limit against mistakes, such as a new account for every run of a program. */
export const MAX_SERVICE_ACCOUNTS = 50

type ById = { user_id: string }
type KeyById = ById & { key_id: string }

export const listServiceAccounts = (ctx: Context, asked: ListInput) =>
  store.listAccounts(ctx.tx, ctx.workspace.workspace_id, asked)

export async function getServiceAccount(ctx: Context, { user_id }: ById): Promise<ServiceAccount> {
  const account = await store.findAccount(ctx.tx, ctx.workspace.workspace_id, user_id)
  if (!account) throw problem('not_found')
  return account
}

export async function createServiceAccount(
  ctx: Context,
  { name, description, role }: z.output<typeof NewServiceAccount>,
): Promise<ServiceAccount> {
  const { workspace_id } = ctx.workspace
  if ((await store.countAccounts(ctx.tx, workspace_id)) >= MAX_SERVICE_ACCOUNTS)
    throw problem('conflict', `A workspace has at most ${MAX_SERVICE_ACCOUNTS} service accounts. Delete one first.`)
  const user_id = newId()
  await store.insertAccount(ctx.tx, workspace_id, {
    user_id,
    org_id: ctx.org.org_id,
    // A reserved domain that cannot be registered and receives no mail.
    email: `${toWire('usr', user_id)}@service-account.invalid`,
    name,
    description: description ?? null,
    role,
    created_by: ctx.person.user_id,
  })
  await audit(ctx, 'service_account.created', user_id, { name, role })
  return getServiceAccount(ctx, { user_id })
}

export async function updateServiceAccount(
  ctx: Context,
  { user_id, ...patch }: ById & z.output<typeof ServiceAccountPatch>,
): Promise<ServiceAccount> {
  const { workspace_id } = ctx.workspace
  const before = await getServiceAccount(ctx, { user_id })
  const to = {
    name: patch.name ?? before.name,
    description: patch.description === undefined ? before.description : patch.description,
    disabled: patch.disabled ?? before.disabled,
  }
  await store.updateAccount(ctx.tx, workspace_id, user_id, to)
  if (patch.role !== undefined && patch.role !== before.role)
    await store.updateRole(ctx.tx, workspace_id, user_id, patch.role)
  const fields = Object.keys(patch)
  if (to.disabled === before.disabled) await audit(ctx, 'service_account.updated', user_id, { fields })
  else await audit(ctx, to.disabled ? 'service_account.disabled' : 'service_account.enabled', user_id, { fields })
  return getServiceAccount(ctx, { user_id })
}

/**
 * Deletes an account as when a person leaves: its resources go to an owner of the workspace, and its keys are deleted.
 */
export async function deleteServiceAccount(members: Members, ctx: Context, { user_id }: ById): Promise<void> {
  await getServiceAccount(ctx, { user_id })
  await members.removeMember(ctx, { workspace_id: ctx.workspace.workspace_id, user_id })
}

export async function listServiceAccountKeys(ctx: Context, { user_id, ...asked }: ById & ListInput) {
  await getServiceAccount(ctx, { user_id })
  return store.listKeys(ctx.tx, ctx.workspace.workspace_id, user_id, asked)
}

export async function getServiceAccountKey(ctx: Context, { user_id, key_id }: KeyById): Promise<ApiKey> {
  await getServiceAccount(ctx, { user_id })
  const key = await store.findKey(ctx.tx, ctx.workspace.workspace_id, user_id, key_id)
  if (!key) throw problem('not_found')
  return key
}

export async function createServiceAccountKey(
  ctx: Context,
  { user_id, ...input }: ById & z.output<typeof NewServiceAccountKey>,
): Promise<ApiKey & { key: string }> {
  const { disabled } = await getServiceAccount(ctx, { user_id })
  if (disabled) throw problem('conflict', 'The service account is disabled. Enable it first.')
  await store.noteHolder(ctx.tx, user_id, ctx.person.user_id)
  const made = await mintKey(ctx, {
    ...input,
    userId: user_id,
    workspaceId: ctx.workspace.workspace_id,
    createdBy: ctx.person.user_id,
  })
  await auditKey(ctx, 'service_account_key.created', user_id, made)
  return made
}

export async function deleteServiceAccountKey(ctx: Context, { user_id, key_id }: KeyById): Promise<void> {
  const key = await getServiceAccountKey(ctx, { user_id, key_id })
  await store.deleteKey(ctx.tx, ctx.workspace.workspace_id, user_id, key_id)
  await auditKey(ctx, 'service_account_key.deleted', user_id, key)
}

const audit = (ctx: Context, action: string, userId: string, data: Record<string, unknown>): Promise<void> =>
  recordAudit(ctx, ctx.tx, { action, subject: toWire('usr', userId), data })

const auditKey = (ctx: Context, action: string, userId: string, key: ApiKey): Promise<void> =>
  recordAudit(ctx, ctx.tx, {
    action,
    subject: toWire('key', key.key_id),
    data: {
      service_account: toWire('usr', userId),
      name: key.name,
      prefix: key.prefix,
      ...(key.scopes && { scopes: key.scopes }),
    },
  })
