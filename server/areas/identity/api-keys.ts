import type { z } from 'zod'
import { uncoveredScopes } from '#model/scopes'
import { recordAudit } from '#platform/audit'
import { enterScope, requireUnbound } from '#platform/auth/scope'
import { systemClock } from '#platform/clock'
import { invalid, problem, unknownReference } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import type { ApiKey, DeleteApiKeys, NewApiKey } from './schema.ts'
import * as store from './store.ts'

type Limits = { workspaceId: string | null; expiresAt: Date | null; scopes: readonly string[] | null }

/**
 * Returns the limits for new keys. A key cannot create a key with a wider scope, more rights or a longer lifetime than
 * its own.
 */
async function limitsOf(ctx: Context): Promise<Limits> {
  if (ctx.credential.kind !== 'api_key') return { workspaceId: null, expiresAt: null, scopes: null }
  const own = await store.findKey(ctx.tx, ctx.person.user_id, ctx.credential.id)
  return {
    workspaceId: ctx.credential.workspace_id,
    expiresAt: (own?.expires_at as Date | null | undefined) ?? null,
    scopes: ctx.credential.scopes ?? null,
  }
}

type Wanted = Pick<z.output<typeof NewApiKey>, 'name' | 'scopes' | 'expires_at'> & {
  userId: string
  workspaceId: string | null
  createdBy?: string
}

/** Checks the request against the caller's limits and stores the key. Only the response contains the secret. */
export async function mintKey(ctx: Context, wanted: Wanted, clock = systemClock): Promise<ApiKey & { key: string }> {
  const limits = await limitsOf(ctx)
  const expiresAt = wanted.expires_at ?? limits.expiresAt
  if (expiresAt !== null && expiresAt <= clock.now())
    throw invalid([{ path: '/expires_at', message: 'must be in the future' }])
  if (expiresAt !== null && limits.expiresAt !== null && expiresAt > limits.expiresAt)
    throw invalid([{ path: '/expires_at', message: 'must not be later than the expiry of the key that creates it' }])
  const scopes = wanted.scopes ?? limits.scopes
  const wider = limits.scopes === null ? [] : uncoveredScopes(limits.scopes, scopes ?? [])
  if (wider.length > 0)
    throw invalid([{ path: '/scopes', message: `the key that creates it lacks ${wider.join(', ')}` }])
  const key = newSecret('hk')
  const made = await store.insertKey(ctx.tx, {
    key_id: newId(),
    user_id: wanted.userId,
    workspace_id: wanted.workspaceId ?? limits.workspaceId,
    name: wanted.name,
    prefix: secretPrefix(key),
    token_hash: hashSecret(key),
    scopes: scopes === null ? null : [...scopes],
    expires_at: expiresAt,
    created_by: wanted.createdBy ?? null,
  })
  return { ...made, key }
}

export function makeApiKeys(clock = systemClock) {
  const getApiKey = async (ctx: Context, { key_id }: { key_id: string }): Promise<ApiKey> => {
    const key = await store.findKey(ctx.tx, ctx.person.user_id, key_id)
    if (!key) throw problem('not_found')
    return key
  }

  return {
    getApiKey,

    listApiKeys: (ctx: Context, asked: ListInput) => store.listKeys(ctx.tx, ctx.person.user_id, asked),

    async createApiKey(ctx: Context, input: z.output<typeof NewApiKey>): Promise<ApiKey & { key: string }> {
      const bound = ctx.credential.kind === 'api_key' ? ctx.credential.workspace_id : null
      const workspaceId = input.workspace_id ?? bound
      if (workspaceId !== null) await requireMember(ctx, workspaceId)
      const made = await mintKey(ctx, { ...input, userId: ctx.person.user_id, workspaceId }, clock)
      await audit(ctx, 'api_key.created', made)
      return made
    },

    async deleteApiKey(ctx: Context, { key_id }: { key_id: string }): Promise<void> {
      const key = await getApiKey(ctx, { key_id })
      if ((await store.deleteKey(ctx.tx, ctx.person.user_id, key_id)) === 0) throw problem('not_found')
      await audit(ctx, 'api_key.deleted', key)
    },

    /**
     * Deletes keys. Deletions are audited in the workspace of the key. Keys without a workspace come first, because
     * they are audited in the scope of the request.
     */
    async deleteApiKeys(ctx: Context, { key_ids }: z.output<typeof DeleteApiKeys>): Promise<{ deleted: number }> {
      requireUnbound(ctx)
      const current = ctx.credential.kind === 'api_key' ? ctx.credential.id : null
      const deleted = await store.deleteKeys(ctx.tx, ctx.person.user_id, key_ids ?? null, current)
      await recordAudit(ctx, ctx.tx, {
        action: 'api_keys.deleted',
        workspaceId: null,
        data: { deleted: deleted.length },
      })
      for (const key of deleted.filter(({ workspace_id }) => workspace_id === null))
        await audit(ctx, 'api_key.deleted', key)
      for (const key of deleted.filter(({ workspace_id }) => workspace_id !== null))
        await audit(ctx, 'api_key.deleted', key)
      return { deleted: deleted.length }
    },
  }
}

export type ApiKeys = ReturnType<typeof makeApiKeys>

/**
 * The owners of a workspace see the keys that are bound to it. A key for all workspaces of a person is visible only to
 * that person.
 */
async function audit(ctx: Context, action: string, key: ApiKey): Promise<void> {
  if (key.workspace_id !== null) await enterScope(ctx.tx, { ...scopeOf(ctx), workspaceId: key.workspace_id })
  await recordAudit(ctx, ctx.tx, {
    action,
    subject: toWire('key', key.key_id),
    workspaceId: key.workspace_id,
    data: { name: key.name, prefix: key.prefix, ...(key.scopes && { scopes: key.scopes }) },
  })
}

async function requireMember(ctx: Context, workspaceId: string): Promise<void> {
  const found = await ctx.tx.count('select from memberships where workspace_id = $1 and user_id = $2', [
    workspaceId,
    ctx.person.user_id,
  ])
  if (found === 0) throw unknownReference('/workspace_id')
}
