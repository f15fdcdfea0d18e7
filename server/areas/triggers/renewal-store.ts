import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import type { Expiry } from './expiry.ts'

/**
 * Saves a renewal immediately, since later steps of the same pass depend on it. Returns 0 if another process took over
 * or the trigger was deleted.
 */
export const saveRenewal = (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  { epoch, store, expiry, confirmed }: { epoch: string; store: JsonObject; expiry: Expiry | null; confirmed: boolean },
): Promise<number> =>
  tx.count(
    `update service_triggers set store = $4::jsonb, renewal_error = null, expires_at = now() + make_interval(secs => $5),
       renew_at = now() + make_interval(secs => $6), hook_confirmed = case when $7 then hook_generation else hook_confirmed end,
       hook_exchanges = case when $7 then null else hook_exchanges end
     where workspace_id = $1 and trigger_id = $2 and epoch = $3::bigint`,
    [
      workspaceId,
      triggerId,
      epoch,
      JSON.stringify(store),
      expiry?.endsInS ?? null,
      expiry?.renewInS ?? null,
      confirmed,
    ],
  )

/** Returns true for the first failure since the last renewal, and undefined if another process took over. */
export const noteRenewalFailure = async (
  tx: Tx,
  workspaceId: string,
  triggerId: string,
  { epoch, error, againInS }: { epoch: string; error: string; againInS: number },
): Promise<boolean | undefined> =>
  (
    await tx.maybe<{ is_first: boolean }>(
      `with before as (select renewal_error from service_triggers where workspace_id = $1 and trigger_id = $2 for update)
       update service_triggers t set renewal_error = $4, renew_at = least(now() + make_interval(secs => $5), case when expires_at > now() then expires_at end)
       from before where t.workspace_id = $1 and t.trigger_id = $2 and t.epoch = $3::bigint
       returning before.renewal_error is null as is_first`,
      [workspaceId, triggerId, epoch, error, againInS],
    )
  )?.is_first
