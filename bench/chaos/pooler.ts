import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SECOND } from '#platform/clock'
import { accountFor, isAlive, spawnAs } from '#platform/db/account'
import { poolingOf, throughPooler } from '#platform/db/pooler'
import { bootstrapRoles } from '#platform/db/roles'
import { newId } from '#platform/ids'
import { startBenchDatabase } from '../database.ts'
import { makeBenchPerson } from '../world.ts'
import { makeFleet } from './fleet.ts'
import { makeLedger } from './ledger.ts'
import { makeWorkflows, schedule, startPeopleLoad } from './people.ts'
import { judge, type Verdict } from './verdict.ts'

// Runs the service through a real PgBouncer in transaction mode, which is killed and restarted under load.

export type PoolerOutcome =
  | (Verdict & { pgbouncer: string; pooler: string })
  | { skipped: string; violations: string[] }

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

const versionOf = (): string | undefined => {
  try {
    return execFileSync('pgbouncer', ['--version'], { env: { PATH: `${process.env.PATH}:/usr/sbin` } })
      .toString()
      .split('\n')[0]
  } catch {
    return undefined
  }
}

export async function runPooler(plan: {
  seed: number
  seconds: number
  say?(line: string): void
}): Promise<PoolerOutcome> {
  const version = versionOf()
  if (version === undefined) return { skipped: 'pgbouncer is not installed', violations: [] }
  const database = await startBenchDatabase()
  const server = new URL(database.superuserUrl)
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'heddle-pgbouncer-'))
  const account = accountFor(join(directory, 'none'))
  const url = Object.assign(new URL(database.superuserUrl), { pathname: '/bench' }).href
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  // PgBouncer looks up users with a role that may see their password verifiers.
  await admin.query(`create role pooler login superuser password 'pooler'`)
  await admin.end()
  writeFileSync(join(directory, 'users.txt'), `"pooler" "pooler"\n`)
  writeFileSync(
    join(directory, 'pgbouncer.ini'),
    `[databases]
* = host=${server.searchParams.get('host') ?? server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
auth_type = scram-sha-256
auth_file = ${join(directory, 'users.txt')}
auth_user = pooler
auth_query = select usename, passwd from pg_shadow where usename = $1
`,
  )
  chmodSync(directory, 0o755)
  if (account) chownSync(directory, account.uid, account.gid)
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const started = spawn('pgbouncer', ['-q', join(directory, 'pgbouncer.ini')], {
      ...spawnAs(account),
      env: { PATH: `${process.env.PATH}:/usr/sbin` },
      stdio: 'ignore',
    })
    child = started
    await delay(SECOND)
    if (started.exitCode !== null) throw new Error('pgbouncer did not start')
  }
  const kill = async (): Promise<void> => {
    const pid = child?.pid
    child?.kill('SIGKILL')
    while (pid !== undefined && isAlive(pid)) await delay(20)
  }
  let fleet: ReturnType<typeof makeFleet> | undefined
  try {
    await start()
    const address = new URL(database.urls.app)
    address.host = `127.0.0.1:${port}`
    address.searchParams.delete('host')
    const pooling = await poolingOf(address.href)
    const direct = await bootstrapRoles({ ownerUrl: url, passwordFor: (role) => role, settingsInRoles: true })
    const urls = await throughPooler(direct, address.href, pooling)
    plan.say?.(`${version}: ${pooling} mode, statements ${urls.pooler}`)
    fleet = makeFleet({ database: { urls }, env: {} })
    const { key } = await makeBenchPerson(database)
    await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    const workflows = await makeWorkflows(fleet.api().base, key)
    await schedule(fleet.api().base, key, workflows)
    const [begunAt, since, running] = [performance.now(), newId(), fleet]
    const ledger = makeLedger(url)
    const load = startPeopleLoad({
      base: () => running.api().base,
      key,
      workflows,
      callers: 4,
      restMs: 20,
      seed: `pooler-${plan.seed}`,
      underWay: ledger.unfinished,
    })
    let times = 0
    while (performance.now() - begunAt < plan.seconds * SECOND) {
      await delay(3 * SECOND)
      await kill()
      await start()
      times += 1
    }
    const more = pooling === 'transaction' ? fleet.fallen() : [`PgBouncer was taken for ${pooling}`]
    const verdict = await judge({ fault: 'pooler', begunAt, since, times, load, ledger, more })
    await ledger.stop()
    return { ...verdict, pgbouncer: version, pooler: urls.pooler ?? 'none' }
  } finally {
    await fleet?.stop()
    await kill()
    await database.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
