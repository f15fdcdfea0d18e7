import { z } from 'zod'
import type { Engine } from '#engine/ports'
import { operator } from '#platform/access/words'
import { recordAudit } from '#platform/audit'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import { type AnyRoute, routes } from '#platform/http/route'
import { id, type ListQuery, listQuery, page, timestamp } from '#platform/http/schema'

const EngineHealth = z
  .object({
    queued: z.number().int(),
    running: z.number().int(),
    waiting: z.number().int(),
    poison: z.number().int().describe('Parked after five crashes'),
    oldest_queued_s: z.number(),
    workers: z.array(
      z.object({ worker_id: z.string(), alive: z.boolean(), running: z.number().int(), started_at: timestamp() }),
    ),
    unaccounted: z
      .array(z.object({ execution_id: id('exe'), workspace_id: id('ws'), status: z.string(), why: z.string() }))
      .describe('Live executions without a living worker or a reason they wait: always empty'),
  })
  .meta({ id: 'EngineHealth' })

const KeptMail = z
  .object({
    mail_id: id('mail'),
    workspace_id: id('ws').nullable(),
    recipient: z.array(z.string()),
    subject: z.string(),
    body_text: z.string().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'KeptMail' })
type KeptMail = z.input<typeof KeptMail>

/** Whoever has the link of an invitation can come in with it: it is for its recipient and its sender. */
const withoutLinks = (mail: KeptMail): KeptMail => ({
  ...mail,
  body_text: mail.body_text?.replaceAll(/(\/invitations\/)inv_\w+/g, '$1…') ?? null,
})

/** What operators of the installation look at. Every look at tenants' data leaves an entry in the audit log. */
export function operationRoutes({ engine }: { engine: Pick<Engine, 'health'> }): AnyRoute[] {
  async function listOutbox(ctx: Context, { cursor, limit }: ListQuery) {
    const before = decodeIdCursor(cursor)
    const rows = await ctx.db.operator(async (tx) => {
      await recordAudit(ctx, tx, { action: 'operator.listed', subject: 'outbox', workspaceId: null })
      return tx.rows<KeptMail>(
        `select mail_id, workspace_id, recipient, subject, body_text, created_at from mail_outbox
         where $1::uuid is null or mail_id < $1 order by mail_id desc limit $2`,
        [before, limit + 1],
      )
    })
    const page = toPage(rows, limit, (mail) => [mail.mail_id])
    return { ...page, items: page.items.map(withoutLinks) }
  }

  return routes(
    'Operations',
    {
      getEngineHealth: ['GET', '/api/operations/engine', operator],
      listOutbox: ['GET', '/api/operations/outbox', operator],
    },
    {
      getEngineHealth: {
        summary: 'Queue, workers, parked and poison executions, and any that nobody accounts for',
        answer: EngineHealth,
        transaction: false,
        extension: true,
        run: async () => engine.health(),
      },
      listOutbox: {
        summary: 'Mails kept because no mail server is configured',
        query: listQuery,
        answer: page(KeptMail),
        transaction: false,
        extension: true,
        run: listOutbox,
      },
    },
  )
}
