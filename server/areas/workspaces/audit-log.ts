import { Readable } from 'node:stream'
import type { z } from 'zod'
import type { Tx } from '#platform/db/pool'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { toWire } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import type { AuditEntry, auditExportQuery, auditQuery } from './schema.ts'
import * as store from './store.ts'

/** The number of rows per read of an export: some megabytes at most. */
const EXPORT_PAGE = 1_000

/** Owners read the log of their workspace. An operator reads all logs, and this adds an entry itself. */
const readAs = <T>(ctx: Context, read: (tx: Tx, workspaceId: string | null) => Promise<T>): Promise<T> =>
  ctx.person.operator
    ? listAsOperator(ctx, 'audit_log', (tx) => read(tx, null))
    : ctx.db.tenant(scopeOf(ctx), (tx) => read(tx, ctx.workspace.workspace_id))

export const listAuditLog = (ctx: Context, asked: z.output<typeof auditQuery>) =>
  readAs(ctx, (tx, workspaceId) => store.listAudit(tx, workspaceId, asked, asked))

const line = (entry: AuditEntry): string =>
  `${JSON.stringify({
    ...entry,
    entry_id: toWire('aul', entry.entry_id),
    workspace_id: entry.workspace_id && toWire('ws', entry.workspace_id),
    actor_id: entry.actor_id && toWire('usr', entry.actor_id),
  })}\n`

async function* linesOf(ctx: Context, filter: store.AuditFilter): AsyncGenerator<string> {
  for (let cursor: string | undefined; ; ) {
    const page: { items: AuditEntry[]; next_cursor: string | null } = await readAs(ctx, (tx, workspaceId) =>
      store.listAudit(tx, workspaceId, filter, { limit: EXPORT_PAGE, cursor }),
    )
    if (page.items.length > 0) yield page.items.map(line).join('')
    if (page.next_cursor === null || ctx.signal.aborted) return
    cursor = page.next_cursor
  }
}

/** Sends JSON Lines, newest first, page by page, so that no export is held in memory. */
export async function exportAuditLog(
  ctx: Context,
  { format: _format, ...filter }: z.output<typeof auditExportQuery>,
  { reply }: Exchange,
): Promise<void> {
  reply
    .header('content-type', 'application/x-ndjson; charset=utf-8')
    .header('content-disposition', 'attachment; filename="audit-log.jsonl"')
    .header('cache-control', 'no-store')
  await reply.send(Readable.from(linesOf(ctx, filter)))
}
