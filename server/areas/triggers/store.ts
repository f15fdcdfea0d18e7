import type { FlowSettings } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import type { RecordedExchange } from '#platform/wall/egress'
import { type Trigger, triggerList } from './schema.ts'

const columns = `trigger_id, workflow_id, service, trigger, kind, registered, args, credential_id, every_s, enabled, next_poll_at, last_polled_at,
  last_execution_id, coalesce(last_error, renewal_error) as last_error, expires_at, created_at`

export const listTriggers = (tx: Tx, workspaceId: string, workflowId: string, asked: ListInput) =>
  readList<Trigger>(tx, triggerList, asked, {
    sql: `select ${columns} from service_triggers where workspace_id = $1 and workflow_id = $2`,
    values: [workspaceId, workflowId],
  })

export const findTrigger = (
  tx: Tx,
  workspaceId: string,
  workflowId: string,
  triggerId: string,
): Promise<Trigger | undefined> =>
  tx.maybe<Trigger>(
    `select ${columns} from service_triggers where workspace_id = $1 and workflow_id = $2 and trigger_id = $3`,
    [workspaceId, workflowId, triggerId],
  )

/** Holds a lock until the end of the transaction, so that concurrent additions cannot exceed the limit. */
export const lockWorkflow = (tx: Tx, workspaceId: string, workflowId: string): Promise<unknown> =>
  tx.rows('select from workflows where workspace_id = $1 and workflow_id = $2 for update', [workspaceId, workflowId])

export const countTriggers = async (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      'select count(*)::integer as count from service_triggers where workspace_id = $1 and workflow_id = $2',
      [workspaceId, workflowId],
    )
  ).count

/**
 * Inserts a trigger. The first poll is a few seconds later, so that its author first reads the trigger as it was
 * created.
 */
export const insertTrigger = (
  tx: Tx,
  workspaceId: string,
  row: {
    triggerId: string
    workflowId: string
    service: string
    trigger: string
    args: JsonObject
    credentialId: string | null
    everyS: number
    userId: string
    kind: 'polling' | 'webhook'
  },
): Promise<Trigger> =>
  tx.row<Trigger>(
    `insert into service_triggers (workspace_id, trigger_id, workflow_id, service, trigger, args, credential_id, every_s, created_by,
       kind, next_poll_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10, now() + case $10 when 'webhook' then interval '0' else interval '3 seconds' end) returning ${columns}`,
    [
      workspaceId,
      row.triggerId,
      row.workflowId,
      row.service,
      row.trigger,
      JSON.stringify(row.args),
      row.credentialId,
      row.everyS,
      row.userId,
      row.kind,
    ],
  )

/**
 * Enables or disables a trigger. Returns undefined if the state is unchanged. A polling trigger starts again: items
 * listed in the meantime start nothing, and a poll in progress writes nothing. A trigger that the vendor calls is
 * registered or unregistered by the next pass, after the one in progress.
 */
export const switchTrigger = (
  tx: Tx,
  workspaceId: string,
  { workflowId, triggerId, enabled }: { workflowId: string; triggerId: string; enabled: boolean },
): Promise<Trigger | undefined> =>
  tx.maybe<Trigger>(
    `update service_triggers set enabled = $4, last_error = null, renewal_error = null,
       epoch = case kind when 'polling' then epoch + 1 else epoch end,
       seen = case kind when 'polling' then null else seen end,
       store = case kind when 'polling' then '{}' else store end, unstarted = '[]',
       next_poll_at = case when kind = 'webhook' and busy_until > now() then next_poll_at else now() end
     where workspace_id = $1 and workflow_id = $2 and trigger_id = $3 and enabled <> $4 returning ${columns}`,
    [workspaceId, workflowId, triggerId, enabled],
  )

export const deleteTrigger = (tx: Tx, workspaceId: string, workflowId: string, triggerId: string): Promise<number> =>
  tx.count('delete from service_triggers where workspace_id = $1 and workflow_id = $2 and trigger_id = $3', [
    workspaceId,
    workflowId,
    triggerId,
  ])

export const deleteTriggersOf = (tx: Tx, workspaceId: string, workflowId: string): Promise<number> =>
  tx.count('delete from service_triggers where workspace_id = $1 and workflow_id = $2', [workspaceId, workflowId])

export type Claimed = {
  workflow_id: string
  service: string
  trigger: string
  args: JsonObject
  credential_id: string | null
  every_s: number
  seen: string[] | null
  store: JsonObject
  /** Items that a piece has returned and that have not started yet. */
  unstarted: Json[]
  epoch: string
  registered: boolean
  unconfirmed: boolean
  /** The number of the registration that the vendor confirmed last. */
  confirmed: string
  /** The vendor's responses to a registration that was not confirmed. */
  hook_exchanges: RecordedExchange[] | null
  /** `expired`: the registration has ended at the vendor. `renew_due`: it must be renewed before it ends. */
  expired: boolean
  renew_due: boolean
  created_by: string | null
  version_id: string | null
  inputs: Json | null
  settings: FlowSettings & { timeout_s?: number }
  activation_required: boolean
  last_error: string | null
  /** False if the trigger was disabled and must be unregistered at the vendor. */
  enabled: boolean
  principal_id: string
}

export type DueWork = { workspace_id: string; id: string; service: string }

/** Returns the work of triggers in all workspaces. The caller then works in the scope of each workspace. */
export const listDueWork = async (
  db: Database,
  kind: 'polling' | 'webhook' | 'ending' | 'removal',
  { limit, ofWorkspace, ofService }: { limit: number; ofWorkspace: number; ofService: number },
  underWay: readonly DueWork[],
): Promise<DueWork[]> =>
  (
    await db.appPool.query<DueWork>({
      name: 'due_trigger_work',
      text: 'select workspace_id, id, service from due_trigger_work($1, $2, $3, $4, $5::jsonb)',
      values: [kind, limit, ofWorkspace, ofService, JSON.stringify(underWay)],
    })
  ).rows

/**
 * Claims a due trigger for some minutes. A later claim increases the epoch, and the earlier process then writes
 * nothing.
 */
export const claimTrigger = (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  leaseS: number,
): Promise<Claimed | undefined> =>
  tx.maybe<Claimed>(
    `with taken as (
       update service_triggers set epoch = epoch + 1, next_poll_at = now() + make_interval(secs => $3),
         busy_until = now() + make_interval(secs => $3)
       where workspace_id = $1 and trigger_id = $2 and next_poll_at <= now()
         and (enabled or registered or hook_generation > hook_confirmed) returning *)
     select t.workflow_id, t.service, t.trigger, t.args, t.credential_id, t.every_s, t.seen, t.store, t.unstarted, t.epoch::text as epoch, t.registered, t.created_by,
       t.hook_generation > t.hook_confirmed as unconfirmed, t.hook_confirmed::text as confirmed, t.hook_exchanges,
       coalesce(t.expires_at <= now(), false) as expired, coalesce(t.renew_at <= now(), false) as renew_due,
       v.version_id, v.definition -> 'inputs' as inputs, w.settings, w.activation_required, t.last_error, t.enabled,
       coalesce(v.activated_by, v.created_by, w.owner_id) as principal_id
     from taken t join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
     left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active`,
    [workspaceId, triggerId, leaseS],
  )

/** Releases a trigger that was not polled, so that it is due again. */
export const releaseTrigger = (tx: Tx, workspaceId: string, triggerId: string, epoch: string): Promise<number> =>
  tx.count(
    `update service_triggers set next_poll_at = now(), busy_until = null
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint`,
    [workspaceId, triggerId, epoch],
  )

export type Settled = {
  epoch: string
  seen: string[] | null
  inS: number
  executionId: string | null
  error: string | null
  store?: JsonObject
  unstarted?: Json[]
}

/** Returns 0 if another process has claimed the trigger since. Then the transaction must be rolled back. */
export const settleTrigger = (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  { epoch, seen, inS, executionId, error, store, unstarted }: Settled,
): Promise<number> =>
  tx.count(
    `update service_triggers set seen = coalesce($4::jsonb, seen), next_poll_at = now() + make_interval(secs => $5),
       last_polled_at = case when $4::jsonb is null then last_polled_at else now() end,
       last_execution_id = coalesce($6, last_execution_id), last_error = $7,
       store = coalesce($8::jsonb, store), unstarted = coalesce($9::jsonb, unstarted), busy_until = null
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint`,
    [
      workspaceId,
      triggerId,
      epoch,
      seen === null ? null : JSON.stringify(seen),
      inS,
      executionId,
      error,
      store ? JSON.stringify(store) : null,
      unstarted ? JSON.stringify(unstarted) : null,
    ],
  )
