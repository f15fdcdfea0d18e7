import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import { canonicalAddress } from '#platform/db/address'
import { migrate } from '#platform/db/migrate'
import type { DatabaseUrls } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'
import { newId } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { makeBenchPerson } from '../world.ts'
import { makeFleet } from './fleet.ts'
import { makeLedger } from './ledger.ts'
import { makeWorkflows, schedule, startPeopleLoad } from './people.ts'
import { type DatabaseServer, makeServers } from './servers.ts'
import { judge, type Verdict } from './verdict.ts'

// Kills the primary under load and promotes its standby. Everything that was acknowledged must still exist, and the
// service must find the new primary by itself. Then a backup is restored to a moment before a mistake.

export type StandbyPlan = {
  seed: number
  /** The duration of the load before the primary is killed, and after the standby is promoted. */
  seconds: number
  synchronous?: boolean
  /** The time between the failure and the promotion. */
  unnoticedMs?: number
  say?(line: string): void
}

export type StandbyOutcome = Verdict & {
  seed: number
  synchronous: boolean
  first_acknowledged_after_promotion_ms: number
  restored?: { to_the_moment: number; of: number }
}

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const log = makeLogger('error')

const withHosts = (url: string, hosts: readonly DatabaseServer[]): string => {
  const { username, password, pathname, search } = new URL(url)
  const places = hosts.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return canonicalAddress(`postgres://${username}:${password}@${places}${pathname}${search}`)!
}

const asDatabase = (server: DatabaseServer, name: string): string =>
  Object.assign(new URL(server.url), { pathname: `/${name}` }).href

async function follow(
  servers: ReturnType<typeof makeServers>,
  primary: DatabaseServer,
  synchronous: boolean,
): Promise<DatabaseServer> {
  const standby = await servers.copy(primary, 'standby')
  servers.mark(standby, 'standby.signal')
  await standby.start({
    primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`,
  })
  if (synchronous) {
    await primary.query(`alter system set synchronous_standby_names = 'standby'`)
    await primary.query('select pg_reload_conf()')
  }
  const wanted = synchronous ? 'sync' : 'async'
  for (;;) {
    const [row] = await primary.query<{ sync_state: string }>('select sync_state from pg_stat_replication')
    if (row?.sync_state === wanted) return standby
    await delay(50)
  }
}

export async function runStandby(plan: StandbyPlan): Promise<StandbyOutcome> {
  const { synchronous = true, unnoticedMs = SECOND, say = () => {} } = plan
  const servers = makeServers()
  let fleet: ReturnType<typeof makeFleet> | undefined
  try {
    const primary = await servers.create('primary')
    await primary.start({ archive_mode: 'on', archive_command: `cp %p ${servers.archive}/%f` })
    const direct = await bootstrapRoles({ ownerUrl: primary.url, createDatabase: 'bench', passwordFor: (role) => role })
    await migrate({ ownerUrl: direct.owner, directory: MIGRATIONS, log })
    const standby = await follow(servers, primary, synchronous)
    const backup = await servers.copy(primary, 'restored')
    say('a standby follows the primary, and there is a backup')

    const hosts = [primary, standby]
    const urls = Object.fromEntries(
      Object.entries(direct).map(([role, url]) => [role, withHosts(url, hosts)]),
    ) as DatabaseUrls
    fleet = makeFleet({ database: { urls }, env: {} })
    const { key } = await makeBenchPerson({ urls: direct } as never)
    await Promise.all([fleet.start('api'), fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    const apis = fleet.apis()
    const workflows = await makeWorkflows(apis[0]!.base, key)
    await schedule(apis[0]!.base, key, workflows)
    const [begunAt, since] = [performance.now(), newId()]
    let turn = 0
    const ledger = makeLedger(asDatabase(standby, 'bench'))
    const load = startPeopleLoad({
      base: () => apis[turn++ % apis.length]!.base,
      key,
      workflows,
      callers: 4,
      restMs: 20,
      seed: `standby-${plan.seed}`,
      underWay: ledger.unfinished,
    })
    await delay(plan.seconds * SECOND)
    const known = load.started.length
    // Older executions have ended or wait. The archive contains a log file when it is full or switched.
    await primary.query(`select pg_create_restore_point('before')`)
    await primary.query('select pg_switch_wal()')
    await delay(SECOND)
    primary.kill()
    say(`the primary was killed after ${load.started.length} starts`)
    await delay(unnoticedMs)
    await standby.query('select pg_promote(true, 30)')
    const promotedAt = performance.now()
    while (load.lastAcknowledgedAt() < promotedAt) await delay(5)
    const first = Math.round(load.lastAcknowledgedAt() - promotedAt)
    say(`the standby was promoted; the next start, vote or answer was acknowledged ${first} ms later`)
    await delay(plan.seconds * SECOND)
    const verdict = await judge({ fault: 'standby', begunAt, since, times: 1, load, ledger, more: fleet.fallen() })
    await ledger.stop()
    await fleet.stop()

    servers.mark(backup, 'recovery.signal')
    await backup.start({
      restore_command: `cp ${servers.archive}/%f %p`,
      recovery_target_name: 'before',
      recovery_target_action: 'promote',
      archive_mode: 'off',
    })
    // The server answers reads while it still replays the log.
    while ((await backup.query<{ replaying: boolean }>('select pg_is_in_recovery() as replaying'))[0]?.replaying)
      await delay(50)
    const restored = makeLedger(asDatabase(backup, 'bench'))
    const rows = await restored.rows<{ execution_id: string }>('select execution_id from executions')
    await restored.stop()
    const there = new Set(rows.map(({ execution_id }) => execution_id))
    const before = load.started.slice(0, known)
    const after = load.started.slice(known)
    const missing = before.filter((id) => !there.has(id)).length
    if (missing > 0) verdict.violations.push(`${missing} of ${known} were not restored`)
    if (after.length > 0 && after.slice(-1).some((id) => there.has(id)))
      verdict.violations.push('what came after the moment was restored too')
    say(`the backup was restored to the moment: ${known - missing} of ${known}`)
    return {
      ...verdict,
      seed: plan.seed,
      synchronous,
      first_acknowledged_after_promotion_ms: first,
      restored: { to_the_moment: known - missing, of: known },
    }
  } finally {
    await fleet?.stop()
    await servers.clear()
  }
}
