import { recordAudit } from '#platform/audit'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import {
  type EmbedToken,
  type EmbedTokenPatch,
  type EmbedTokenShown,
  type NewEmbedToken,
  tokenList,
} from './token-schema.ts'

// Embed tokens let a page of an allowed origin use one workflow or one chat template.

export type EmbedOwner = { workflow_id: string } | { template_id: string }

const embedColumns =
  'token_id, workflow_id, template_id, name, prefix, allowed_origins, require_origin, enabled, last_used_at, created_at'
/** Lists never contain the token itself. Reading a single token does, because the token is in public pages anyway. */
const shownColumns = `${embedColumns}, public_token as token`
const ownerColumn = (owner: EmbedOwner): ['workflow_id' | 'template_id', string] =>
  'workflow_id' in owner ? ['workflow_id', owner.workflow_id] : ['template_id', owner.template_id]

/** The operations on embed tokens, the same for workflows and templates. */
export function makeEmbedTokens<Owner extends EmbedOwner>(options: {
  defaultOrigins(ctx: Context, owner: Owner): Promise<string[]>
}) {
  return {
    async listEmbedTokens(ctx: Context, asked: Owner & ListInput) {
      const [column, id] = ownerColumn(asked)
      return readList<EmbedToken>(ctx.tx, tokenList, asked, {
        sql: `select ${embedColumns} from embed_tokens where workspace_id = $1 and ${column} = $2`,
        values: [ctx.workspace.workspace_id, id],
      })
    },

    async createEmbedToken(ctx: Context, { name, allowed_origins, require_origin, ...owner }: Owner & NewEmbedToken) {
      const secret = newSecret('ems')
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const origins = allowed_origins ?? (await options.defaultOrigins(ctx, owner as unknown as Owner))
      const token = await ctx.tx.row<EmbedToken>(
        `insert into embed_tokens (workspace_id, token_id, ${column}, name, prefix, token_hash, allowed_origins, require_origin, created_by, public_token)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${embedColumns}`,
        [
          ctx.workspace.workspace_id,
          newId(),
          id,
          name ?? null,
          secretPrefix(secret),
          hashSecret(secret),
          origins,
          require_origin ?? false,
          ctx.person.user_id,
          secret,
        ],
      )
      await recordAudit(ctx, ctx.tx, { action: 'embed_token.created', subject: toWire('emb', token.token_id) })
      return { ...token, token: secret }
    },

    async getEmbedToken(ctx: Context, { token_id, ...owner }: Owner & { token_id: string }): Promise<EmbedTokenShown> {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const token = await ctx.tx.maybe<EmbedTokenShown>(
        `select ${shownColumns} from embed_tokens where workspace_id = $1 and ${column} = $2 and token_id = $3`,
        [ctx.workspace.workspace_id, id, token_id],
      )
      if (!token) throw problem('not_found')
      return token
    },

    async updateEmbedToken(
      ctx: Context,
      {
        token_id,
        name,
        allowed_origins,
        require_origin,
        enabled,
        ...owner
      }: Owner & { token_id: string } & EmbedTokenPatch,
    ): Promise<EmbedTokenShown> {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const token = await ctx.tx.maybe<EmbedTokenShown>(
        `update embed_tokens set name = case when $4::boolean then $5 else name end,
           allowed_origins = case when $6::boolean then coalesce($7::text[], '{}') else allowed_origins end,
           require_origin = coalesce($8, require_origin), enabled = coalesce($9, enabled)
         where workspace_id = $1 and ${column} = $2 and token_id = $3 returning ${shownColumns}`,
        [
          ctx.workspace.workspace_id,
          id,
          token_id,
          name !== undefined,
          name ?? null,
          allowed_origins !== undefined,
          allowed_origins ?? null,
          require_origin ?? null,
          enabled ?? null,
        ],
      )
      if (!token) throw problem('not_found')
      ctx.tx.hint(TOKENS_CHANGED, token_id)
      await recordAudit(ctx, ctx.tx, { action: 'embed_token.changed', subject: toWire('emb', token_id) })
      return token
    },

    async deleteEmbedToken(ctx: Context, { token_id, ...owner }: Owner & { token_id: string }): Promise<void> {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const gone = await ctx.tx.count(
        `delete from embed_tokens where workspace_id = $1 and ${column} = $2 and token_id = $3`,
        [ctx.workspace.workspace_id, id, token_id],
      )
      if (gone === 0) throw problem('not_found')
      ctx.tx.hint(TOKENS_CHANGED, token_id)
      await recordAudit(ctx, ctx.tx, { action: 'embed_token.deleted', subject: toWire('emb', token_id) })
    },
  }
}
