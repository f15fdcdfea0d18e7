import type { Tx } from './db/pool.ts'
import type { Context } from './http/context.ts'
import { newId, toWire } from './ids.ts'
import { OUTBOX_HINTS } from './outbox.ts'

/** `request` is the request that an entry belongs to, if the writer acts for someone other than its caller. */
type Writer = Pick<Context, 'maybePerson' | 'maybeWorkspace' | 'address'> & { request?: object }

const written = new WeakSet<object>()

/** Checks whether this request has already written an entry. */
export const wasAudited = (request: object): boolean => written.has(request)

export type AuditEntry = {
  action: string
  /** The object of the action, as a wire id or an address. */
  subject?: string
  workspaceId?: string | null
  data?: Record<string, unknown>
}

function actorKindOf(person: Writer['maybePerson']): string {
  if (person === null) return 'system'
  if (person.isServiceAccount) return 'service_account'
  return person.operator ? 'operator' : 'person'
}

/**
 * Writes an entry in the transaction of the change. An entry never contains a secret, and of the values that a tenant
 * typed only names and addresses.
 */
export async function recordAudit(ctx: Writer, tx: Tx, entry: AuditEntry): Promise<void> {
  written.add(ctx.request ?? ctx)
  const entryId = newId()
  const workspaceId = entry.workspaceId === undefined ? (ctx.maybeWorkspace?.workspace_id ?? null) : entry.workspaceId
  const actorId = ctx.maybePerson?.user_id ?? null
  const actorKind = actorKindOf(ctx.maybePerson)
  const { action, subject = null, data = {} } = entry
  // The same format as in `GET /api/audit-log`.
  const event = {
    entry_id: toWire('aul', entryId),
    workspace_id: workspaceId && toWire('ws', workspaceId),
    actor_id: actorId && toWire('usr', actorId),
    actor_kind: actorKind,
    action,
    subject,
    data,
    address: ctx.address,
  }
  // One statement writes the entry and its event, so that without destinations an entry costs only one more index
  // lookup.
  const sent = await tx.count(
    `with entry as (
       insert into audit_log (entry_id, workspace_id, actor_id, actor_kind, action, subject, data, address)
       values ($1, $2, $3, $4, $5, $6, $7, $8))
     insert into event_outbox (workspace_id, type, data)
     select $2, 'audit.recorded', $9 where exists (select from event_workspaces where workspace_id = $2)`,
    [entryId, workspaceId, actorId, actorKind, action, subject, data, ctx.address, JSON.stringify(event)],
  )
  if (sent > 0) tx.hint(OUTBOX_HINTS, '')
}
