import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { checkExpression } from '#model/expressions'
import { recordAudit } from '#platform/audit'
import { secretFault } from '#platform/auth/signatures'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import { systemClock } from '#platform/clock'
import { type FieldError, invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import type { Place, Vault } from '#platform/secrets'
import { tokenList } from './token-schema.ts'
import type {
  NewWebhookToken,
  WebhookAuth,
  WebhookOptions,
  WebhookToken,
  WebhookTokenPatch,
} from './webhook-token-schema.ts'

// Webhook tokens start a workflow and can read the executions that they started.

export type OfWorkflow = { workflow_id: string }
export type OneToken = OfWorkflow & { token_id: string }

const columns = `token_id, workflow_id, name, prefix, enabled, expires_at, last_used_at, created_at,
  jsonb_build_object('kind', auth) || auth_config as auth, secret is not null as secret_set, methods, input,
  respond, respond_timeout_s, challenge, dedupe`
type Row = Omit<WebhookToken, 'url'>

/** Returns the place of an encrypted secret: it can be decrypted only for this token and this kind. */
export const webhookSecretPlace = (workspaceId: string, tokenId: string, kind: string): Place => [
  workspaceId,
  'webhook_tokens',
  tokenId,
  JSON.stringify(['secret', kind]),
]

function urlOf(ctx: Context, { auth, workflow_id, token_id }: Row, token?: string): string | null {
  if (auth.kind === 'bearer') return `${ctx.baseUrl}/api/webhooks/workflow/${toWire('wf', workflow_id)}/trigger`
  const last = auth.kind === 'url' ? token : toWire('whk', token_id)
  return last === undefined ? null : `${ctx.baseUrl}/api/webhooks/in/${last}`
}

const view = (ctx: Context, row: Row): WebhookToken => ({ ...row, url: urlOf(ctx, row) })

/** Refuses fields that the kind of the token does not support. */
function checkFields(
  auth: WebhookAuth,
  { secret, ...options }: { secret?: string | undefined } & WebhookOptions,
): void {
  const errors: FieldError[] = []
  if (auth.kind === 'bearer')
    for (const [field, value] of Object.entries(options))
      if (value !== undefined) errors.push({ path: `/${field}`, message: 'applies to url, basic and hmac tokens only' })
  if (secret !== undefined) {
    const fault = auth.kind === 'hmac' ? secretFault(auth.preset, secret) : undefined
    if (auth.kind === 'bearer' || auth.kind === 'url')
      errors.push({ path: '/secret', message: 'applies to basic and hmac tokens only; the service makes this one' })
    else if (fault !== undefined) errors.push({ path: '/secret', message: fault })
  }
  const from = options.dedupe?.from
  const wrong = typeof from === 'object' ? checkExpression(from.$cel, new Set(['input'])) : null
  if (wrong !== null) errors.push({ path: '/dedupe/from/$cel', message: wrong })
  if (errors.length > 0) throw invalid(errors)
}

/** Returns the options that differ from the token, so that a token can be sent back as it was read. */
const changesOf = (present: Row, options: WebhookOptions): WebhookOptions =>
  Object.fromEntries(
    Object.entries(options).filter(([field, value]) => !isDeepStrictEqual(value, present[field as keyof Row])),
  )

/**
 * Creates a secret. Undefined for senders that create the secret themselves and show it only after they know the
 * address.
 */
function makeSecretFor(auth: WebhookAuth): string | undefined {
  if (auth.kind === 'basic') return randomBytes(24).toString('base64url')
  if (auth.kind !== 'hmac') return undefined
  if (auth.preset === 'standard') return `whsec_${randomBytes(32).toString('base64')}`
  return auth.preset === 'github' || auth.preset === 'custom' ? randomBytes(32).toString('base64url') : undefined
}

export async function listWebhookTokens(ctx: Context, { workflow_id, ...asked }: OfWorkflow & ListInput) {
  const page = await readList<Row>(ctx.tx, tokenList, asked, {
    sql: `select ${columns} from webhook_tokens where workspace_id = $1 and workflow_id = $2`,
    values: [ctx.workspace.workspace_id, workflow_id],
  })
  return { ...page, items: page.items.map((row) => view(ctx, row)) }
}

export async function createWebhookToken(
  parts: { vault: Vault },
  ctx: Context,
  { workflow_id, name, expires_at, auth = { kind: 'bearer' }, secret: given, ...options }: OfWorkflow & NewWebhookToken,
) {
  if (expires_at && expires_at <= systemClock.now())
    throw invalid([{ path: '/expires_at', message: 'must be in the future' }])
  checkFields(auth, { secret: given, ...options })
  const { kind, ...config } = auth
  const token = newSecret('whs')
  const tokenId = newId()
  const { workspace_id } = ctx.workspace
  const made = given === undefined ? makeSecretFor(auth) : undefined
  const secret = given ?? made
  const isShown = kind === 'bearer' || kind === 'url'
  const row = await ctx.tx.row<Row>(
    `insert into webhook_tokens (workspace_id, token_id, workflow_id, name, prefix, token_hash, expires_at, created_by, auth,
       auth_config, secret, methods, input, respond, respond_timeout_s, challenge, dedupe)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning ${columns}`,
    [
      workspace_id,
      tokenId,
      workflow_id,
      name ?? null,
      isShown ? secretPrefix(token) : toWire('whk', tokenId).slice(0, 10),
      // The column is required. For kinds in which the token is not the secret, the token is never shown.
      hashSecret(token),
      expires_at ?? null,
      ctx.person.user_id,
      kind,
      config,
      secret === undefined ? null : parts.vault.seal(webhookSecretPlace(workspace_id, tokenId, kind), secret),
      options.methods ?? ['POST'],
      options.input ?? 'body',
      options.respond ?? 'accepted',
      options.respond_timeout_s ?? 30,
      options.challenge ?? null,
      options.dedupe ?? null,
    ],
  )
  await recordAudit(ctx, ctx.tx, {
    action: 'webhook_token.created',
    subject: toWire('whk', tokenId),
    data: { auth: kind },
  })
  const shown = isShown ? token : toWire('whk', tokenId)
  return { ...row, url: urlOf(ctx, row, shown), token: shown, ...(made !== undefined && { secret: made }) }
}

async function findRow(ctx: Context, { workflow_id, token_id }: OneToken): Promise<Row> {
  const row = await ctx.tx.maybe<Row>(
    `select ${columns} from webhook_tokens where workspace_id = $1 and workflow_id = $2 and token_id = $3`,
    [ctx.workspace.workspace_id, workflow_id, token_id],
  )
  if (!row) throw problem('not_found')
  return row
}

export async function getWebhookToken(ctx: Context, input: OneToken): Promise<WebhookToken> {
  return view(ctx, await findRow(ctx, input))
}

export async function updateWebhookToken(
  parts: { vault: Vault },
  ctx: Context,
  { workflow_id, token_id, name, enabled, secret, ...options }: OneToken & WebhookTokenPatch,
): Promise<WebhookToken> {
  const present = await findRow(ctx, { workflow_id, token_id })
  const { auth } = present
  checkFields(auth as WebhookAuth, { secret, ...changesOf(present, options) })
  const { workspace_id } = ctx.workspace
  const sealed = secret && parts.vault.seal(webhookSecretPlace(workspace_id, token_id, auth.kind), secret)
  const row = await ctx.tx.maybe<Row>(
    `update webhook_tokens set name = case when $4::boolean then $5 else name end, enabled = coalesce($6, enabled),
       secret = coalesce($7, secret), methods = coalesce($8, methods), input = coalesce($9, input),
       respond = coalesce($10, respond), respond_timeout_s = coalesce($11, respond_timeout_s),
       challenge = case when $12::boolean then $13 else challenge end, dedupe = case when $14::boolean then $15::jsonb else dedupe end
     where workspace_id = $1 and workflow_id = $2 and token_id = $3 returning ${columns}`,
    [
      workspace_id,
      workflow_id,
      token_id,
      name !== undefined,
      name ?? null,
      enabled ?? null,
      sealed ?? null,
      options.methods ?? null,
      options.input ?? null,
      options.respond ?? null,
      options.respond_timeout_s ?? null,
      options.challenge !== undefined,
      options.challenge ?? null,
      options.dedupe !== undefined,
      options.dedupe ?? null,
    ],
  )
  if (!row) throw problem('not_found')
  ctx.tx.hint(TOKENS_CHANGED, token_id)
  const subject = toWire('whk', token_id)
  if (enabled !== undefined)
    await recordAudit(ctx, ctx.tx, { action: enabled ? 'webhook_token.enabled' : 'webhook_token.disabled', subject })
  if (secret !== undefined) await recordAudit(ctx, ctx.tx, { action: 'webhook_token.secret_changed', subject })
  return view(ctx, row)
}

export async function deleteWebhookToken(ctx: Context, { workflow_id, token_id }: OneToken): Promise<void> {
  const gone = await ctx.tx.count(
    'delete from webhook_tokens where workspace_id = $1 and workflow_id = $2 and token_id = $3',
    [ctx.workspace.workspace_id, workflow_id, token_id],
  )
  if (gone === 0) throw problem('not_found')
  ctx.tx.hint(TOKENS_CHANGED, token_id)
  await recordAudit(ctx, ctx.tx, { action: 'webhook_token.deleted', subject: toWire('whk', token_id) })
}
