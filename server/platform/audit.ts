import type { Tx } from './db/pool.ts'
import type { Context } from './http/context.ts'
import { newId } from './ids.ts'

export type AuditEntry = {
  action: string
  /** What it was done to, as a wire id or an address. */
  subject?: string
  workspaceId?: string | null
  data?: Record<string, unknown>
}

/** Every change of rights or credentials, and every operator's look at another tenant, leaves an entry in the same transaction. */
export async function recordAudit(
  ctx: Pick<Context, 'maybePerson' | 'maybeWorkspace' | 'address'>,
  tx: Tx,
  entry: AuditEntry,
): Promise<void> {
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
