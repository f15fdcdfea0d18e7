import type { Logger } from '../log.ts'
import { hostsOf } from './address.ts'
import { withClient } from './client.ts'

/**
 * Warns if replication is in use without a synchronous standby: acknowledged writes survive the loss of the primary
 * only if a standby has them too.
 */
export async function warnOfReplication(ownerUrl: string, log: Logger): Promise<void> {
  const { standbys, waits } = await withClient({ connectionString: ownerUrl }, async (client) => {
    const { rows } = await client.query<{ standbys: number; waits: boolean }>(
      `select (select count(*)::integer from pg_stat_replication) as standbys,
         current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('off', 'local') as waits`,
    )
    return rows[0]!
  })
  if (waits || (standbys === 0 && hostsOf(ownerUrl).length === 0)) return
  log.warn(
    { standbys },
    'no standby is synchronous: if the primary fails, transactions acknowledged just before can be lost. Set synchronous_standby_names, see docs/high-availability.md',
  )
}
