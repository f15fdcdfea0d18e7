import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { JsonObject } from '#model/definition'
import { toStorableText } from '#model/storable'
import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem, statusOf } from '#platform/errors'
import { toProblem } from '#platform/http/answer'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { id, jsonObject, timestamp } from '#platform/http/schema'
import { newId } from '#platform/ids'
import type { Logger } from '#platform/log'
import { headersWithoutCredentials } from './request.ts'
import { webhookDeliveryList } from './schema.ts'

// The last calls of each token, for people who set up a sender: what arrived, and why it was refused. Written in
// batches, so that a flood of calls costs one transaction a second.

const FLUSH_EVERY = SECOND
/** The maximum number per token between two flushes. Older ones are dropped. */
const MAX_PENDING = 20
const MAX_TOKENS = 1_000
/** The maximum number stored per token. */
export const MAX_KEPT = 50
const MAX_HEADERS = 40
const MAX_TEXT = 500

export const WebhookDelivery = z
  .object({
    delivery_id: id('dlv'),
    received_at: timestamp(),
    method: z.string(),
    status: z.number().int().describe('What was answered'),
    code: z.string().nullable().describe('Why it was refused; null if it was accepted'),
    reason: z.string().nullable(),
    content_type: z.string().nullable(),
    bytes: z.number().int(),
    headers: jsonObject().describe('Without headers that contain credentials'),
    execution_id: id('exe').nullable(),
  })
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.input<typeof WebhookDelivery>

export type Outcome = { status: number; code?: string; reason?: string; executionId?: string }

/** Returns the outcome of a refused call: the response that its sender received. */
export function refusalOf(error: unknown): Outcome {
  const { code, message, errors } = toProblem(error)
  const where = errors?.[0] ? ` (${errors[0].path || '/'} ${errors[0].message})` : ''
  return { status: statusOf(code), code, reason: `${message}${where}` }
}

type Of = { workspace_id: string; token_id: string; auth_config?: JsonObject }
type Pending = { of: Of; rows: WebhookDelivery[] }

const cut = (text: string): string => toStorableText(text, MAX_TEXT)

const shown = (headers: FastifyRequest['headers'], of: Of): JsonObject =>
  Object.fromEntries(
    Object.entries(headersWithoutCredentials(headers, of.auth_config ?? {}))
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name, cut(String(value))]),
  )

async function insert(tx: Tx, { workspace_id, token_id }: Of, rows: WebhookDelivery[]): Promise<void> {
  await tx.count(
    `insert into webhook_deliveries (workspace_id, token_id, delivery_id, received_at, method, status, code, reason, content_type,
       bytes, headers, execution_id)
     select $1, $2, r.* from json_to_recordset($3) as r (delivery_id uuid, received_at timestamptz, method text, status smallint,
       code text, reason text, content_type text, bytes integer, headers jsonb, execution_id uuid)
     where exists (select from webhook_tokens where workspace_id = $1 and token_id = $2)`,
    [workspace_id, token_id, JSON.stringify(rows)],
  )
  await tx.count(
    `delete from webhook_deliveries where workspace_id = $1 and token_id = $2 and delivery_id < (
       select delivery_id from webhook_deliveries where workspace_id = $1 and token_id = $2
       order by delivery_id desc offset $3 limit 1)`,
    [workspace_id, token_id, MAX_KEPT - 1],
  )
}

export function makeDeliveries({ db, log }: { db: Database; log: Logger }) {
  const pending = new Map<string, Pending>()
  let flushing: Promise<void> | undefined

  const write = async (): Promise<void> => {
    const all = [...pending.values()]
    pending.clear()
    for (const { of, rows } of all)
      await db
        .tenant({ workspaceId: of.workspace_id, userId: null }, (tx) => insert(tx, of, rows))
        .catch((error: unknown) => log.debug({ err: error }, 'deliveries of a webhook could not be recorded'))
  }
  const flush = (): Promise<void> => {
    flushing ??= write().finally(() => {
      flushing = undefined
    })
    return flushing
  }
  const timer = setInterval(() => {
    if (pending.size > 0) void flush()
  }, FLUSH_EVERY)
  timer.unref()

  return {
    note(of: Of, request: FastifyRequest, bytes: number, outcome: Outcome): void {
      const known = pending.get(of.token_id) ?? { of, rows: [] }
      if (known.rows.length === 0 && pending.size >= MAX_TOKENS) return
      pending.set(of.token_id, known)
      if (known.rows.length >= MAX_PENDING) known.rows.shift()
      const type = request.headers['content-type']
      known.rows.push({
        delivery_id: newId(),
        received_at: new Date(),
        method: request.method,
        status: outcome.status,
        code: outcome.code ?? null,
        reason: outcome.reason === undefined ? null : cut(outcome.reason),
        content_type: type === undefined ? null : cut(type),
        bytes,
        headers: shown(request.headers, of),
        execution_id: outcome.executionId ?? null,
      })
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
export type Deliveries = ReturnType<typeof makeDeliveries>

export async function listWebhookDeliveries(
  ctx: Context,
  { workflow_id, token_id, ...asked }: { workflow_id: string; token_id: string } & ListInput,
) {
  const { workspace_id } = ctx.workspace
  const token = await ctx.tx.maybe(
    'select from webhook_tokens where workspace_id = $1 and workflow_id = $2 and token_id = $3',
    [workspace_id, workflow_id, token_id],
  )
  if (!token) throw problem('not_found')
  return readList<WebhookDelivery>(ctx.tx, webhookDeliveryList, asked, {
    sql: `select delivery_id, received_at, method, status, code, reason, content_type, bytes, headers, execution_id from webhook_deliveries
      where workspace_id = $1 and token_id = $2`,
    values: [workspace_id, token_id],
  })
}
