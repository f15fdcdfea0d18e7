import { activationRequired, idempotencyOf, type StartExecution, targetOf } from '#areas/executions/start'
import type { Started } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import { type HmacSettings, signatureFault } from '#platform/auth/signatures'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { markReplayed } from '#platform/http/idempotency'
import { limits, type RateLimiter } from '#platform/http/limits'
import type { Exchange } from '#platform/http/route'
import { rateLimited } from '#platform/http/throttle'
import { discardRest } from '#platform/http/upload'
import { newId, toWire } from '#platform/ids'
import type { Vault } from '#platform/secrets'
import { signedChallenge, unsignedChallenge } from './challenge.ts'
import { isFiles, type KeepFile, readFiles, readSmall } from './content.ts'
import { dedupeKey } from './dedupe.ts'
import { type Deliveries, type Outcome, refusalOf } from './deliveries.ts'
import type { WebhookIdentifier } from './identify.ts'
import { type InboundToken, secretOf } from './inbound-token.ts'
import { explainContentType, inputOf } from './input.ts'
import { challengeReply, type Reply, type ReplyParts, replyTo } from './reply.ts'
import { readContent, requestInput } from './request.ts'

// Calls at the address of a token. The content of a request is not parsed before its sender is authenticated.

export type InboundParts = ReplyParts & {
  startExecution: StartExecution
  tokens: WebhookIdentifier
  vault: Vault
  limiter: RateLimiter
  deliveries: Deliveries
  keepFile: KeepFile
}

export type InboundCall = { token_or_id: string }

/**
 * Counts signed calls only after the signature is verified, so that a caller who knows only the address uses up
 * nothing.
 */
function countSigned({ limiter }: InboundParts, ctx: Context, token: InboundToken): void {
  if (ctx.config.HEDDLE_RATE_LIMITS !== 'on') return
  for (const verdict of [
    limiter.take(limits.general, `webhook:${token.token_id}`),
    limiter.take(limits.workspace, token.workspace_id),
  ])
    if (!verdict.allowed) throw rateLimited(verdict.retryAfterS)
}

function verify(parts: InboundParts, ctx: Context, token: InboundToken, body: Buffer, { request }: Exchange): void {
  if (token.auth !== 'hmac') return
  const fault = signatureFault(token.auth_config as HmacSettings, {
    headers: request.headers,
    body,
    secret: secretOf(parts.vault, token),
    now: Date.now(),
  })
  if (fault !== undefined) throw problem('bad_signature', fault)
  countSigned(parts, ctx, token)
}

async function start(
  parts: InboundParts,
  ctx: Context,
  token: InboundToken,
  {
    input,
    body,
    headers,
    executionId: given,
  }: { input: JsonObject; body: Buffer; headers: Exchange['request']['headers']; executionId: string },
): Promise<Started> {
  const { token_id, workspace_id, workflow_id, version_id } = token
  if (version_id === null) throw problem('no_active_version', 'The owner of the workflow must activate a version.')
  if (token.activation_required) throw activationRequired()
  const caller = {
    credential: { kind: 'webhook' as const, id: token_id, workspace_id, workflow_id },
    maybePerson: null,
    maybeWorkspace: { workspace_id, role: 'guest' as const },
    idempotencyKey: ctx.idempotencyKey,
  }
  const idempotency = (await dedupeKey(parts.db, token, headers, input)) ?? idempotencyOf(caller, body)
  return parts
    .startExecution(workspace_id, targetOf({ ...token, version_id }), input, {
      trigger: { kind: 'webhook', id: toWire('whk', token_id) },
      startedBy: null,
      initiatedBy: [{ kind: 'webhook_token', id: toWire('whk', token_id), user_id: token.created_by }],
      idempotency,
      onCommitting: ctx.awaitCommit,
      traceparent: ctx.traceparent,
      executionId: given,
      inputPath: '',
    })
    .catch((error: unknown) => {
      throw explainContentType(error, input)
    })
}

type Received = { answer: Reply; executionId?: string }

async function receive(
  parts: InboundParts,
  ctx: Context,
  token: InboundToken,
  { token_or_id, body, files }: InboundCall & { body: Buffer; files: Counter | undefined },
  exchange: Exchange,
): Promise<Received> {
  const { request } = exchange
  const asked = unsignedChallenge(token, token_or_id, request)
  if (asked) return { answer: challengeReply(asked) }
  verify(parts, ctx, token, body, exchange)
  const signed = files ? undefined : signedChallenge(token, body)
  if (signed) return { answer: challengeReply(signed) }
  if (!token.methods.includes(request.method))
    throw problem('method_not_allowed', `This token accepts only ${token.methods.join(', ')}.`, {
      allow: token.methods,
    })
  parts.tokens.noteInboundUse(token.token_id)
  const executionId = newId()
  const read = { parts, ctx, token, executionId }
  const { input, asSent } = files
    ? await filesInput(read, request, files)
    : { input: await smallInput(read, request, body), asSent: body }
  // Files are read only above, after the last look at the token.
  const current = files ? await parts.tokens.inboundTokenAfter(token_or_id, request) : token
  const begun = await start(parts, ctx, current, { input, body: asSent, headers: request.headers, executionId })
  if (begun.replayed) markReplayed(exchange.reply)
  return { answer: await replyTo(parts, ctx, token, begun.executionId), executionId: begun.executionId }
}

type Reading = { parts: InboundParts; ctx: Context; token: InboundToken; executionId: string }
type Counter = { bytes: number }

/** Stores files for the execution that is about to start. If none starts, the files are deleted after a day. */
async function filesInput(
  { parts, ctx, token, executionId }: Reading,
  request: Exchange['request'],
  counter: Counter,
): Promise<{ input: JsonObject; asSent: Buffer }> {
  const { content, bytes } = await readFiles(request, {
    workspaceId: token.workspace_id,
    executionId,
    maxBytes: ctx.config.HEDDLE_MAX_FILE_BYTES,
    smallBytes: ctx.config.HEDDLE_MAX_JSON_BYTES,
    keepFile: parts.keepFile,
  })
  counter.bytes = bytes
  // A repeated call has the same content, but other file ids.
  const files = content.files.map(({ file: _file, ...facts }) => facts)
  return {
    input: requestInput(token, request, content, new Date()),
    asSent: Buffer.from(JSON.stringify([content.body, files])),
  }
}

async function smallInput(
  { parts, ctx, token, executionId }: Reading,
  request: Exchange['request'],
  body: Buffer,
): Promise<JsonObject> {
  const maxDepth = ctx.config.HEDDLE_MAX_JSON_DEPTH
  if (token.input !== 'request') return inputOf(body, request.headers['content-type'], maxDepth)
  const { query: _query, ...content } = await readContent(request, body, maxDepth)
  const files: JsonObject[] = []
  for (const file of content.files) {
    const bytes = Buffer.from(String(file.content_base64), 'base64')
    async function* chunks(): AsyncGenerator<Buffer> {
      yield bytes
    }
    const named = { name: String(file.name ?? 'body'), media_type: String(file.media_type), execution_id: executionId }
    files.push({ ...file, file: (await parts.keepFile(token.workspace_id, named, chunks())) as unknown as Json })
  }
  return requestInput(token, request, { ...content, files }, new Date())
}

export async function receiveWebhook(
  parts: InboundParts,
  ctx: Context,
  { token_or_id }: InboundCall,
  exchange: Exchange,
): Promise<void> {
  const { request, reply } = exchange
  const known = await parts.tokens.inboundTokenOf(token_or_id)
  const files = isFiles(known, request) ? { bytes: 0 } : undefined
  let body: Buffer
  let token: InboundToken
  try {
    body = files ? Buffer.alloc(0) : await readSmall(request, ctx.config.HEDDLE_MAX_JSON_BYTES)
    token = await parts.tokens.inboundTokenAfter(token_or_id, request)
  } catch (error) {
    discardRest(exchange)
    parts.deliveries.note(known, request, 0, refusalOf(error))
    throw error
  }
  const note = (outcome: Outcome): void => parts.deliveries.note(token, request, files?.bytes ?? body.length, outcome)
  try {
    const { answer, executionId } = await receive(parts, ctx, token, { token_or_id, body, files }, exchange)
    note({ status: answer.status, ...(executionId !== undefined && { executionId }) })
    reply.code(answer.status).headers(answer.headers).send(answer.body)
  } catch (error) {
    if (files) discardRest(exchange)
    note(refusalOf(error))
    throw error
  }
}
