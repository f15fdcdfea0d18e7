import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { enterScope } from '#platform/auth/scope'
import { systemClock } from '#platform/clock'
import { invalid, problem, unknownReference } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import type { ApiKey, NewApiKey } from './schema.ts'
import * as store from './store.ts'

export function makeApiKeys(clock = systemClock) {
  /** A key makes no key that reaches further or lasts longer than itself. */
  const limitsOf = async (ctx: Context): Promise<{ workspaceId: string | null; expiresAt: Date | null }> => {
    if (ctx.credential.kind !== 'api_key') return { workspaceId: null, expiresAt: null }
    const own = await store.findKey(ctx.tx, ctx.person.user_id, ctx.credential.id)
    return { workspaceId: ctx.credential.workspace_id, expiresAt: (own?.expires_at as Date | null | undefined) ?? null }
  }

  const getApiKey = async (ctx: Context, { key_id }: { key_id: string }): Promise<ApiKey> => {
    const key = await store.findKey(ctx.tx, ctx.person.user_id, key_id)
    if (!key) throw problem('not_found')
    return key
  }

  return {
    getApiKey,

    async listApiKeys(ctx: Context, { cursor, limit }: ListQuery) {
      const rows = await store.listKeys(ctx.tx, ctx.person.user_id, decodeIdCursor(cursor), limit)
      return toPage(rows, limit, (row) => [row.key_id])
    },

    async createApiKey(ctx: Context, input: z.output<typeof NewApiKey>): Promise<ApiKey & { key: string }> {
      const limits = await limitsOf(ctx)
      const workspaceId = input.workspace_id ?? limits.workspaceId
      if (workspaceId !== null) await requireMember(ctx, workspaceId)
      const expiresAt = input.expires_at ?? limits.expiresAt
      if (expiresAt !== null && expiresAt <= clock.now())
        throw invalid([{ path: '/expires_at', message: 'must be in the future' }])
      if (expiresAt !== null && limits.expiresAt !== null && expiresAt > limits.expiresAt)
        throw invalid([{ path: '/expires_at', message: 'must not be later than that of the key it is made with' }])
      const key = newSecret('hk')
      const made = await store.insertKey(ctx.tx, {
        key_id: newId(),
        user_id: ctx.person.user_id,
        workspace_id: workspaceId,
        name: input.name,
        prefix: secretPrefix(key),
        token_hash: hashSecret(key),
        expires_at: expiresAt,
      })
      await audit(ctx, 'api_key.created', made)
      return { ...made, key }
    },

    async deleteApiKey(ctx: Context, { key_id }: { key_id: string }): Promise<void> {
      const key = await getApiKey(ctx, { key_id })
      if ((await store.deleteKey(ctx.tx, ctx.person.user_id, key_id)) === 0) throw problem('not_found')
      await audit(ctx, 'api_key.deleted', key)
    },
  }
}

export type ApiKeys = ReturnType<typeof makeApiKeys>

/** The owners of a workspace see which keys open it; a key for all of a person's workspaces is that person's affair. */
async function audit(ctx: Context, action: string, key: ApiKey): Promise<void> {
  if (key.workspace_id !== null) await enterScope(ctx.tx, { ...scopeOf(ctx), workspaceId: key.workspace_id })
  await recordAudit(ctx, ctx.tx, {
    action,
    subject: toWire('key', key.key_id),
    workspaceId: key.workspace_id,
    data: { name: key.name, prefix: key.prefix },
  })
}

async function requireMember(ctx: Context, workspaceId: string): Promise<void> {
  const found = await ctx.tx.count('select from memberships where workspace_id = $1 and user_id = $2', [
    workspaceId,
    ctx.person.user_id,
  ])
  if (found === 0) throw unknownReference('/workspace_id')
}
