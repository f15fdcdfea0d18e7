import type { Tx } from './db/pool.ts'
import type { Context } from './http/context.ts'
import { newId } from './ids.ts'

/** The request an entry belongs to, where whoever writes it acts for somebody else than its caller. */
type Writer = Pick<Context, 'maybePerson' | 'maybeWorkspace' | 'address'> & { request?: object }

const written = new WeakSet<object>()

/** Whether this request has left an entry already. */
export const wasAudited = (request: object): boolean => written.has(request)

export type AuditEntry = {
  action: string
  /** What it was done to, as a wire id or an address. */
  subject?: string
  workspaceId?: string | null
  data?: Record<string, unknown>
}

/** An entry in the transaction of what it tells of. Never a secret, and no value that a tenant typed but names and addresses. */
export async function recordAudit(ctx: Writer, tx: Tx, entry: AuditEntry): Promise<void> {
  written.add(ctx.request ?? ctx)
  await tx.count(
    `insert into audit_log (entry_id, workspace_id, actor_id, actor_kind, action, subject, data, address)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      newId(),
      entry.workspaceId === undefined ? (ctx.maybeWorkspace?.workspace_id ?? null) : entry.workspaceId,
      ctx.maybePerson?.user_id ?? null,
      ctx.maybePerson === null ? 'system' : ctx.maybePerson.operator ? 'operator' : 'person',
      entry.action,
      entry.subject ?? null,
      entry.data ?? {},
      ctx.address,
    ],
  )
}
