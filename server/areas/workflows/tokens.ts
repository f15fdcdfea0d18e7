import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import type {
  EmbedToken,
  EmbedTokenPatch,
  NewEmbedToken,
  NewWebhookToken,
  WebhookToken,
  WebhookTokenPatch,
} from './schema.ts'

type OfWorkflow = { workflow_id: string }
type OneToken = OfWorkflow & { token_id: string }

// Webhook tokens: they start a workflow and see what they started.

const webhookColumns = 'token_id, workflow_id, name, prefix, enabled, expires_at, last_used_at, created_at'

const listWebhookRows = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  before: string | null,
  limit: number,
): Promise<WebhookToken[]> =>
  tx.rows<WebhookToken>(
    `select ${webhookColumns} from webhook_tokens where workspace_id = $1 and workflow_id = $2 and ($3::uuid is null or token_id < $3)
     order by token_id desc limit $4`,
    [workspaceId, workflowId, before, limit + 1],
  )

export const webhookTokens = {
  async listWebhookTokens(ctx: Context, { workflow_id, cursor, limit }: OfWorkflow & ListQuery) {
    const rows = await listWebhookRows(ctx.tx, ctx.workspace.workspace_id, workflow_id, decodeIdCursor(cursor), limit)
    return toPage(rows, limit, (row) => [row.token_id])
  },

  async createWebhookToken(
    ctx: Context,
    { workflow_id, name, expires_at }: OfWorkflow & z.output<typeof NewWebhookToken>,
  ) {
    const secret = newSecret('whs')
    const token = await ctx.tx.row<WebhookToken>(
      `insert into webhook_tokens (workspace_id, token_id, workflow_id, name, prefix, token_hash, expires_at, created_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${webhookColumns}`,
      [
        ctx.workspace.workspace_id,
        newId(),
        workflow_id,
        name ?? null,
        secretPrefix(secret),
        hashSecret(secret),
        expires_at ?? null,
        ctx.person.user_id,
      ],
    )
    await recordAudit(ctx, ctx.tx, { action: 'webhook_token.created', subject: toWire('whk', token.token_id) })
    return { ...token, token: secret }
  },

  async getWebhookToken(ctx: Context, { workflow_id, token_id }: OneToken): Promise<WebhookToken> {
    const token = await ctx.tx.maybe<WebhookToken>(
      `select ${webhookColumns} from webhook_tokens where workspace_id = $1 and workflow_id = $2 and token_id = $3`,
      [ctx.workspace.workspace_id, workflow_id, token_id],
    )
    if (!token) throw problem('not_found')
    return token
  },

  async updateWebhookToken(
    ctx: Context,
    { workflow_id, token_id, name, enabled }: OneToken & z.output<typeof WebhookTokenPatch>,
  ): Promise<WebhookToken> {
    const token = await ctx.tx.maybe<WebhookToken>(
      `update webhook_tokens set name = case when $4::boolean then $5 else name end, enabled = coalesce($6, enabled)
       where workspace_id = $1 and workflow_id = $2 and token_id = $3 returning ${webhookColumns}`,
      [ctx.workspace.workspace_id, workflow_id, token_id, name !== undefined, name ?? null, enabled ?? null],
    )
    if (!token) throw problem('not_found')
    if (enabled !== undefined)
      await recordAudit(ctx, ctx.tx, {
        action: enabled ? 'webhook_token.enabled' : 'webhook_token.disabled',
        subject: toWire('whk', token_id),
      })
    return token
  },

  async deleteWebhookToken(ctx: Context, { workflow_id, token_id }: OneToken): Promise<void> {
    const gone = await ctx.tx.count(
      'delete from webhook_tokens where workspace_id = $1 and workflow_id = $2 and token_id = $3',
      [ctx.workspace.workspace_id, workflow_id, token_id],
    )
    if (gone === 0) throw problem('not_found')
    await recordAudit(ctx, ctx.tx, { action: 'webhook_token.deleted', subject: toWire('whk', token_id) })
  },
}

// Embed tokens: they let a page of a listed origin use one workflow, or one chat template.

export type EmbedOwner = { workflow_id: string } | { template_id: string }

const embedColumns =
  'token_id, workflow_id, template_id, name, prefix, allowed_origins, require_origin, enabled, last_used_at, created_at'
const ownerColumn = (owner: EmbedOwner): ['workflow_id' | 'template_id', string] =>
  'workflow_id' in owner ? ['workflow_id', owner.workflow_id] : ['template_id', owner.template_id]

/** The same verbs for the tokens of a workflow and of a template. */
export function makeEmbedTokens<Owner extends EmbedOwner>(options: {
  defaultOrigins(ctx: Context, owner: Owner): Promise<string[]>
}) {
  return {
    async listEmbedTokens(ctx: Context, { cursor, limit, ...owner }: Owner & ListQuery) {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const rows = await ctx.tx.rows<EmbedToken>(
        `select ${embedColumns} from embed_tokens where workspace_id = $1 and ${column} = $2 and ($3::uuid is null or token_id < $3)
         order by token_id desc limit $4`,
        [ctx.workspace.workspace_id, id, decodeIdCursor(cursor), limit + 1],
      )
      return toPage(rows, limit, (row) => [row.token_id])
    },

    async createEmbedToken(ctx: Context, { name, allowed_origins, require_origin, ...owner }: Owner & NewEmbedToken) {
      const secret = newSecret('ems')
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const origins = allowed_origins ?? (await options.defaultOrigins(ctx, owner as unknown as Owner))
      const token = await ctx.tx.row<EmbedToken>(
        `insert into embed_tokens (workspace_id, token_id, ${column}, name, prefix, token_hash, allowed_origins, require_origin, created_by)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${embedColumns}`,
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
        ],
      )
      await recordAudit(ctx, ctx.tx, { action: 'embed_token.created', subject: toWire('emb', token.token_id) })
      return { ...token, token: secret }
    },

    async getEmbedToken(ctx: Context, { token_id, ...owner }: Owner & { token_id: string }): Promise<EmbedToken> {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const token = await ctx.tx.maybe<EmbedToken>(
        `select ${embedColumns} from embed_tokens where workspace_id = $1 and ${column} = $2 and token_id = $3`,
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
    ): Promise<EmbedToken> {
      const [column, id] = ownerColumn(owner as unknown as Owner)
      const token = await ctx.tx.maybe<EmbedToken>(
        `update embed_tokens set name = case when $4::boolean then $5 else name end,
           allowed_origins = case when $6::boolean then coalesce($7::text[], '{}') else allowed_origins end,
           require_origin = coalesce($8, require_origin), enabled = coalesce($9, enabled)
         where workspace_id = $1 and ${column} = $2 and token_id = $3 returning ${embedColumns}`,
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
      await recordAudit(ctx, ctx.tx, { action: 'embed_token.deleted', subject: toWire('emb', token_id) })
    },
  }
}
