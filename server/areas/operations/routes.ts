import { z } from 'zod'
import type { Engine } from '#engine/ports'
import { operator } from '#platform/access/rules'
import { recordAudit } from '#platform/audit'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { type AnyRoute, routes } from '#platform/http/route'
import { id, page, timestamp } from '#platform/http/schema'
import { toWire } from '#platform/ids'
import { KeptMail, outboxList } from './schema.ts'

const workspace_name = z.string().optional().describe('Of the workspace, while it is there')

const EngineHealth = z
  .object({
    queued: z.number().int(),
    running: z.number().int(),
    waiting: z.number().int(),
    poison: z.number().int().describe('Parked after five crashes'),
    poisoned: z
      .array(z.object({ execution_id: id('exe'), workspace_id: id('ws'), workspace_name, since: timestamp() }))
      .describe('The newest hundred of them'),
    oldest_queued_s: z.number(),
    workers: z.array(
      z.object({ worker_id: z.string(), alive: z.boolean(), running: z.number().int(), started_at: timestamp() }),
    ),
    unaccounted: z
      .array(
        z.object({
          execution_id: id('exe'),
          workspace_id: id('ws'),
          workspace_name,
          status: z.string(),
          why: z.string(),
        }),
      )
      .describe(
        'Inconsistent executions: neither running nor waiting correctly, the first hundred. They are repaired within a minute',
      ),
  })
  .meta({ id: 'EngineHealth' })

const ReleasedExecution = z
  .object({ execution_id: id('exe'), workspace_id: id('ws') })
  .meta({ id: 'ReleasedExecution' })

/**
 * Removes the links of invitations: anyone who has the link can accept the invitation, so only recipient and sender see
 * it.
 */
const withoutLinks = (mail: KeptMail): KeptMail => ({
  ...mail,
  body_text: mail.body_text?.replaceAll(/(\/invitations\/)inv_\w+/g, '$1…') ?? null,
})

/** Routes for operators of the installation. Every read of tenants' data adds an entry to the audit log. */
export function operationRoutes({ engine }: { engine: Pick<Engine, 'health' | 'release'> }): AnyRoute[] {
  async function listOutbox(ctx: Context, asked: ListInput) {
    const page = await ctx.db.operator(async (tx) => {
      await recordAudit(ctx, tx, { action: 'operator.listed', subject: 'outbox', workspaceId: null })
      return readList<KeptMail>(tx, outboxList, asked, {
        sql: 'select mail_id, workspace_id, recipient, subject, body_text, created_at from mail_outbox',
        values: [],
      })
    })
    return { ...page, items: page.items.map(withoutLinks) }
  }

  async function getEngineHealth(ctx: Context) {
    const { poisoned, unaccounted, ...health } = await engine.health()
    const named = await ctx.db.operator((tx) =>
      tx.rows<{ workspace_id: string; name: string }>(
        'select workspace_id, name from workspaces where workspace_id = any ($1)',
        [[...poisoned, ...unaccounted].map(({ workspace_id }) => workspace_id)],
      ),
    )
    const names = new Map(named.map(({ workspace_id, name }) => [workspace_id, name]))
    const withName = <Row extends { workspace_id: string }>(row: Row) => {
      const name = names.get(row.workspace_id)
      return { ...row, ...(name !== undefined && { workspace_name: name }) }
    }
    return { ...health, poisoned: poisoned.map(withName), unaccounted: unaccounted.map(withName) }
  }

  async function releaseExecution(ctx: Context, { execution_id }: { execution_id: string }) {
    const found = await ctx.db.operator((tx) =>
      tx.maybe<{ workspace_id: string }>(
        `select e.workspace_id from workspaces w join executions e using (workspace_id) where e.execution_id = $1`,
        [execution_id],
      ),
    )
    if (!found) throw problem('not_found')
    const { workspace_id: workspaceId } = found
    // In the tenant's scope: operators themselves may write only to the audit log.
    await ctx.db.tenant({ workspaceId, userId: ctx.person.user_id }, async (tx) => {
      const outcome = await engine.release(tx, { workspaceId, executionId: execution_id })
      if (outcome === 'unknown') throw problem('not_found')
      if (outcome === 'not_poison') throw problem('conflict', 'The execution is not parked after crashes.')
      await recordAudit(ctx, tx, { action: 'execution.released', subject: toWire('exe', execution_id), workspaceId })
    })
    return { execution_id, workspace_id: workspaceId }
  }

  return routes(
    'Operations',
    {
      getEngineHealth: ['GET', '/api/operations/engine', operator],
      releaseExecution: ['POST', '/api/operations/executions/:execution_id/release', operator],
      listOutbox: ['GET', '/api/operations/outbox', operator],
    },
    {
      getEngineHealth: {
        summary: 'Queue, workers, parked and poison executions, and inconsistent executions',
        answer: EngineHealth,
        transaction: false,
        extension: true,
        run: getEngineHealth,
      },
      releaseExecution: {
        summary: 'Release an execution that is parked after five crashes',
        description:
          'An execution that is not parked after crashes gives 409. Recorded in the audit log of its workspace.',
        answer: ReleasedExecution,
        status: 202,
        transaction: false,
        extension: true,
        run: releaseExecution,
      },
      listOutbox: {
        summary: 'Mails kept because no mail server is configured',
        query: outboxList.query,
        answer: page(KeptMail),
        transaction: false,
        extension: true,
        run: listOutbox,
      },
    },
  )
}
