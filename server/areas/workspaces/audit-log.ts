import type { z } from 'zod'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, toPage } from '#platform/http/page'
import { listAsOperator } from '#platform/operator'
import type { auditQuery } from './schema.ts'
import * as store from './store.ts'

export function makeAuditLog() {
  return {
    /** Owners read their workspace's; an operator reads all, and that look is an entry itself. */
    async listAuditLog(ctx: Context, { cursor, limit, ...filter }: z.output<typeof auditQuery>) {
      const before = decodeIdCursor(cursor)
      const action = filter.action ?? null
      const rows = ctx.person.operator
        ? await listAsOperator(ctx, 'audit_log', (tx) => store.listAllAudit(tx, action, before, limit))
        : await store.listAudit(ctx.tx, ctx.workspace.workspace_id, action, before, limit)
      return toPage(rows, limit, (row) => [row.entry_id])
    },
  }
}

export type AuditLog = ReturnType<typeof makeAuditLog>
