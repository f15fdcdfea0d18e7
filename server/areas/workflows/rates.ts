import type { TakeRate } from '#engine/nodes/http-rate'
import type { Database } from '#platform/db/pool'

/** The longest wait in memory. */
const MAX_WAIT_S = 600

/**
 * Each request takes the next free moment of its key, so that requests are spread evenly and exactly across all
 * workers. Keys that were not used for a day are deleted.
 */
export const makeTakeRate =
  (db: Database): TakeRate =>
  async ({ workspaceId, key, limit, perS }) => {
    const row = await db.tenant({ workspaceId, userId: null }, (tx) =>
      tx.maybe<{ wait_s: number }>(
        `with gone as (delete from request_rates where workspace_id = $1 and key <> $2 and free_at < now() - interval '1 day')
         insert into request_rates as r (workspace_id, key, free_at)
         values ($1, $2, clock_timestamp() + make_interval(secs => $3))
         on conflict (workspace_id, key) do update
           set free_at = greatest(r.free_at, clock_timestamp()) + make_interval(secs => $3)
           where r.free_at < clock_timestamp() + make_interval(secs => $4)
         returning greatest(0, extract(epoch from r.free_at - clock_timestamp()) - $3)::float8 as wait_s`,
        [workspaceId, key, perS / limit, MAX_WAIT_S],
      ),
    )
    return row?.wait_s
  }
