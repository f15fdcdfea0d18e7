import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { RecordedExchange } from '#platform/wall/egress'
import type { Expiry } from './expiry.ts'

// Triggers that the vendor calls: their registrations and the received events.

/** The channel of notifications about triggers that have work immediately. */
export const TRIGGER_HINTS = 'triggers'

/** How long the id of a delivery is kept. */
const REMEMBERED = '3 days'

export type HookRow = {
  service: string
  trigger: string
  args: JsonObject
  credential_id: string | null
  store: JsonObject
  generation: string
  /** The number of the registration that the vendor confirmed last. */
  confirmed: string
  registered: boolean
  principal_id: string
}

/** Returns what a call of the vendor needs, or undefined if the trigger does not exist. */
export const findHook = (tx: Tx, workspaceId: string, triggerId: string): Promise<HookRow | undefined> =>
  tx.maybe<HookRow>(
    `select t.service, t.trigger, t.args, t.credential_id, t.store, t.hook_generation::text as generation,
       t.hook_confirmed::text as confirmed, t.registered and coalesce(t.expires_at > now(), true) as registered,
       coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id
     from service_triggers t join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
     left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active
     where t.workspace_id = $1 and t.trigger_id = $2 and t.kind = 'webhook' and t.enabled`,
    [workspaceId, triggerId],
  )

/**
 * Stores the number of a registration before the vendor is called, so that an unconfirmed address is refused. Returns
 * undefined if another process took over.
 */
export const beginRegistration = async (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  epoch: string,
): Promise<string | undefined> =>
  (
    await tx.maybe<{ generation: string }>(
      `update service_triggers set hook_generation = hook_generation + 1, hook_exchanges = null where workspace_id = $1 and trigger_id = $2
         and epoch = $3::bigint returning hook_generation::text as generation`,
      [workspaceId, triggerId, epoch],
    )
  )?.generation

const MAX_EXCHANGES = 20
const MAX_EXCHANGED = 64 * 1024

/** Stores an exchange with the vendor. Returns 0 if another process took over, or if the limits are exceeded. */
export const noteExchange = (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  epoch: string,
  exchanged: RecordedExchange,
): Promise<number> => {
  const kept = JSON.stringify([exchanged])
  return tx.count(
    `update service_triggers set hook_exchanges = coalesce(hook_exchanges, '[]') || $4::jsonb
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint and $5
       and jsonb_array_length(coalesce(hook_exchanges, '[]')) < ${MAX_EXCHANGES}`,
    [workspaceId, triggerId, epoch, kept, kept.length <= MAX_EXCHANGED],
  )
}

export type KeptEvent = { eventId: string; delivery: string | null; payload: JsonObject }

/** Stores an event. `repeated`: this delivery was received before. `full`: too many events are waiting. */
export async function keepEvent(
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  event: KeptEvent,
  most: number,
): Promise<'kept' | 'repeated' | 'full'> {
  const { waiting } = await tx.row<{ waiting: number }>(
    `select count(*)::integer as waiting from (select from service_trigger_events
       where workspace_id = $1 and trigger_id = $2 and done_at is null limit $3) e`,
    [workspaceId, triggerId, most],
  )
  if (waiting >= most) return 'full'
  const kept = await tx.count(
    `insert into service_trigger_events (workspace_id, event_id, trigger_id, delivery, payload) values ($1, $2, $3, $4, $5::jsonb)
     on conflict (workspace_id, trigger_id, delivery) where delivery is not null do nothing`,
    [workspaceId, event.eventId, triggerId, event.delivery, JSON.stringify(event.payload)],
  )
  if (kept === 0) return 'repeated'
  // A process that is working on the trigger checks for more events before it ends. The row is updated unconditionally:
  // a condition would be evaluated on the snapshot while that process ends, and then neither would see the other's
  // change.
  await tx.count(
    `update service_triggers set next_poll_at = case when busy_until > now() then next_poll_at else now() end
     where workspace_id = $1 and trigger_id = $2`,
    [workspaceId, triggerId],
  )
  tx.hint(TRIGGER_HINTS, '')
  return 'kept'
}

export type OpenEvent = { event_id: string; payload: JsonObject; attempts: number }

/** Returns waiting events, oldest first. */
export const listOpenEvents = (tx: Tx, workspaceId: string, triggerId: string, most: number): Promise<OpenEvent[]> =>
  tx.rows<OpenEvent>(
    `select event_id, payload, attempts from service_trigger_events
     where workspace_id = $1 and trigger_id = $2 and done_at is null order by event_id limit $3`,
    [workspaceId, triggerId, most],
  )

/** Ends an event in the transaction that starts its executions, and deletes its content. */
export const endEvent = (tx: Tx, workspaceId: string, eventId: string): Promise<number> =>
  tx.count(
    `update service_trigger_events set done_at = now(), payload = null
     where workspace_id = $1 and event_id = $2 and done_at is null`,
    [workspaceId, eventId],
  )

/** Ends all waiting events when a trigger is enabled or disabled, so that earlier events start nothing. */
export const endEvents = (tx: Tx, workspaceId: string, triggerId: string): Promise<number> =>
  tx.count(
    `update service_trigger_events set done_at = now(), payload = null
     where workspace_id = $1 and trigger_id = $2 and done_at is null`,
    [workspaceId, triggerId],
  )

export const noteAttempt = (tx: Tx, workspaceId: string, eventId: string): Promise<number> =>
  tx.count('update service_trigger_events set attempts = attempts + 1 where workspace_id = $1 and event_id = $2', [
    workspaceId,
    eventId,
  ])

export const forgetOldEvents = (tx: Tx, workspaceId: string, triggerId: string): Promise<number> =>
  tx.count(
    `delete from service_trigger_events where workspace_id = $1 and event_id in (
       select event_id from service_trigger_events where workspace_id = $1 and trigger_id = $2
         and done_at < now() - interval '${REMEMBERED}' order by done_at limit 500)`,
    [workspaceId, triggerId],
  )

/**
 * Saves the state after one event. Returns 0 if another process took over; then the transaction must be rolled back.
 */
export const saveProgress = (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  { epoch, store, executionId }: { epoch: string; store: JsonObject; executionId: string | null },
): Promise<number> =>
  tx.count(
    `update service_triggers set store = $4::jsonb, last_polled_at = now(), last_execution_id = coalesce($5, last_execution_id)
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint`,
    [workspaceId, triggerId, epoch, JSON.stringify(store), executionId],
  )

export type Settled = {
  epoch: string
  /** Whether the trigger was enabled when the pass started. */
  enabled: boolean
  registered: boolean
  /** The outcome of the registration that was started at the vendor is known, or the registration was removed. */
  confirmed: boolean
  /** Undefined means unchanged. */
  store: JsonObject | undefined
  /** How long the registration is valid. Null means until it is removed, undefined means unchanged. */
  expiry: Expiry | null | undefined
  inS: number
  error: string | null
  /** The pass failed, so received events wait for the next pass. */
  failed: boolean
  /** Whether the trigger should have been registered when the pass started. */
  wanted: boolean
}

export async function settleHook(tx: Tx, workspaceId: string, triggerId: string, settled: Settled): Promise<number> {
  const { epoch, enabled, registered, confirmed, store, expiry, inS, error, failed, wanted } = settled
  // The next pass is at the latest when the registration must be renewed, or immediately if the trigger was disabled in
  // the meantime.
  const count = await tx.count(
    `update service_triggers set registered = $4, store = coalesce($5::jsonb, store), busy_until = null, last_error = $7,
       hook_confirmed = case when $8 then hook_generation else hook_confirmed end,
       hook_exchanges = case when $8 then null else hook_exchanges end,
       expires_at = case when $9 then now() + make_interval(secs => $10) else expires_at end,
       renew_at = case when $9 then now() + make_interval(secs => $11) else renew_at end,
       renewal_error = case when $9 then null else renewal_error end,
       next_poll_at = case when $12 and not enabled then now() else least(now() + make_interval(secs => $6), case when $4 then (
         select greatest(now() + interval '30 seconds', r.at) from (
           select case when $9 then now() + make_interval(secs => $11) else renew_at end as at) r where r.at is not null) end) end
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint`,
    [
      workspaceId,
      triggerId,
      epoch,
      registered,
      store ? JSON.stringify(store) : null,
      inS,
      error,
      confirmed,
      expiry !== undefined,
      expiry?.endsInS ?? null,
      expiry?.renewInS ?? null,
      enabled,
    ],
  )
  // A separate statement sees events and activations that were committed while this transaction waited for the row.
  if (count > 0) {
    const woken = await tx.count(
      `update service_triggers t set next_poll_at = now() where t.workspace_id = $1 and t.trigger_id = $2 and (
         ($3 and t.registered and exists (
           select from service_trigger_events e where e.workspace_id = $1 and e.trigger_id = $2 and e.done_at is null))
         or $4 <> (t.enabled and exists (select from workflow_versions v join workflows w on w.workspace_id = v.workspace_id and w.workflow_id = v.workflow_id
           where v.workspace_id = $1 and v.workflow_id = t.workflow_id and v.active and not w.activation_required)))`,
      [workspaceId, triggerId, !failed, wanted],
    )
    if (woken > 0) tx.hint(TRIGGER_HINTS, '')
  }
  return count
}

export const hasTrigger = async (tx: Tx, workspaceId: string, triggerId: string): Promise<boolean> =>
  (await tx.maybe('select from service_triggers where workspace_id = $1 and trigger_id = $2', [
    workspaceId,
    triggerId,
  ])) !== undefined

/** Stores a registration that must be removed and that no trigger refers to. */
export async function keepRemoval(
  tx: Tx,
  workspaceId: string,
  row: {
    service: string
    trigger: string
    args: JsonObject
    store: JsonObject
    credential_id: string | null
    principal_id: string | null
  },
): Promise<void> {
  await tx.count(
    `insert into service_trigger_removals (workspace_id, removal_id, service, trigger, args, store, credential_id, principal_id)
     values ($1, gen_random_uuid(), $2, $3, $4::jsonb, $5::jsonb, $6, $7)`,
    [
      workspaceId,
      row.service,
      row.trigger,
      JSON.stringify(row.args),
      JSON.stringify(row.store),
      row.credential_id,
      row.principal_id,
    ],
  )
  tx.hint(TRIGGER_HINTS, '')
}

/**
 * Stores the registrations to remove at the vendor when triggers are deleted. If a process is registering at this
 * moment, the vendor's list is checked after the lease of that process has ended.
 */
export async function keepRemovals(
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  triggerId: string | null,
): Promise<void> {
  const kept = await tx.count(
    `insert into service_trigger_removals
       (workspace_id, removal_id, service, trigger, args, store, credential_id, principal_id, registered, unconfirmed_trigger_id, next_at, exchanges)
     select t.workspace_id, gen_random_uuid(), t.service, t.trigger, t.args, t.store, t.credential_id,
       coalesce(v.activated_by, v.created_by, w.owner_id), t.registered,
       case when t.hook_generation > t.hook_confirmed then t.trigger_id end,
       case when t.hook_generation > t.hook_confirmed and not t.registered then greatest(now(), t.busy_until) else now() end, t.hook_exchanges
     from service_triggers t join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
     left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active
     where t.workspace_id = $1 and t.workflow_id = $2 and ($3::uuid is null or t.trigger_id = $3)
       and (t.registered or t.hook_generation > t.hook_confirmed)`,
    [workspaceId, workflowId, triggerId],
  )
  if (kept > 0) tx.hint(TRIGGER_HINTS, '')
}

export type Removal = {
  service: string
  trigger: string
  args: JsonObject
  store: JsonObject
  credential_id: string | null
  principal_id: string | null
  registered: boolean
  unconfirmed_trigger_id: string | null
  exchanges: RecordedExchange[] | null
  attempts: number
}

/** Claims a removal. Unless it is ended before, it is retried later. */
export const claimRemoval = (tx: Tx, workspaceId: string, removalId: string): Promise<Removal | undefined> =>
  tx.maybe<Removal>(
    `update service_trigger_removals set attempts = attempts + 1,
       next_at = now() + make_interval(secs => 120 * power(4, least(attempts, 6)))
     where workspace_id = $1 and removal_id = $2 and next_at <= now()
     returning service, trigger, args, store, credential_id, principal_id, registered, unconfirmed_trigger_id, exchanges, attempts`,
    [workspaceId, removalId],
  )

export const endRemoval = (tx: Tx, workspaceId: string, removalId: string): Promise<number> =>
  tx.count('delete from service_trigger_removals where workspace_id = $1 and removal_id = $2', [workspaceId, removalId])
