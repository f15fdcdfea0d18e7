import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { MINUTE } from '#platform/clock'
import { withClient } from '#platform/db/client'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { lockDirectory } from '#platform/db/lock'
import { migrate } from '#platform/db/migrate'
import type { DatabaseUrls } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * `migrated`: a file that exists when the migration of the template has ended; it contains the reason of a failure.
     * `scratch`: a directory that is removed after the test run.
     */
    postgres: { superuserUrl: string; template: string; urls: DatabaseUrls; migrated: string; scratch: string }
  }
}

const PREFIX = 'heddle-test-cluster-'
const IN_MEMORY = '/dev/shm'
/** Far more bytes than all databases of a test run and the tests themselves need. */
const ROOM = 8 * 2 ** 30

type Cluster = { postgres: ProvidedContext['postgres']; stop(): Promise<void> }
type Shared = { projects: number; cluster: Promise<Cluster> }

/** Every project of a test run loads this file again, so the state that the projects share is not in the module. */
const run = globalThis as typeof globalThis & { heddleTestCluster?: Shared | undefined }

/**
 * Starts one temporary PostgreSQL for the whole test run, with a migrated template database that each test file clones.
 * While the template is migrated, the first test files load, and test files without a database run.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.heddleTestCluster ??= { projects: 0, cluster: startCluster() }
  const shared = run.heddleTestCluster
  shared.projects += 1
  const cluster = await shared.cluster
  project.provide('postgres', cluster.postgres)
  return async () => {
    shared.projects -= 1
    if (shared.projects > 0) return
    run.heddleTestCluster = undefined
    await cluster.stop()
  }
}

/**
 * Returns a directory in memory if there is enough room. A database has 1,400 files, and a file system on disk avoids
 * inodes that were deleted recently: after some databases had been dropped, each `create database` took 290 ms of
 * processor time on disk and 45 ms in memory.
 */
function placeForCluster(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    if (Math.min(bavail * bsize, process.availableMemory()) > ROOM) return IN_MEMORY
  } catch {
    // The directory does not exist or is not writable.
  }
  return tmpdir()
}

async function startCluster(): Promise<Cluster> {
  await sweep()
  const dataDir = mkdtempSync(join(placeForCluster(), PREFIX))
  chmodSync(dataDir, 0o711)
  const log = pino({ level: 'warn' })
  const postgres = await startEmbeddedPostgres({ dataDir, log, durable: false })
  // Stops the server if the test run ends without teardown; SIGQUIT ends every backend at once.
  const abandon = (): void => {
    process.kill(postgres.postmasterPid, 'SIGQUIT')
    rmSync(dataDir, { recursive: true, force: true })
  }
  process.once('exit', abandon)
  let migrating: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    process.off('exit', abandon)
    await migrating
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const template = 'heddle_template'
    const urls = await bootstrapRoles({
      ownerUrl: postgres.ownerUrl,
      createDatabase: template,
      passwordFor: (role) => role,
    })
    await hashPasswordsQuickly(postgres.ownerUrl, [postgres.ownerUrl, ...Object.values(urls)])
    const migrated = join(dataDir, 'migrated')
    const say = (failure: string): void => {
      writeFileSync(`${migrated}.unfinished`, failure)
      renameSync(`${migrated}.unfinished`, migrated)
    }
    const directory = join(import.meta.dirname, '..', '..', 'migrations')
    migrating = migrate({ ownerUrl: urls.owner, directory, log }).then(
      () => say(''),
      (error: unknown) => say(String(error)),
    )
    return { postgres: { superuserUrl: postgres.ownerUrl, template, urls, migrated, scratch: dataDir }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Hashes the passwords of the roles again. They were hashed with 4,096 iterations, which every connection has to
 * repeat; this server uses one iteration (`scram_iterations`).
 */
async function hashPasswordsQuickly(superuserUrl: string, addresses: string[]): Promise<void> {
  await withClient({ connectionString: superuserUrl }, async (superuser) => {
    for (const { username, password } of addresses.map((address) => new URL(address)))
      await superuser.query(`alter role ${username} password ${pg.escapeLiteral(decodeURIComponent(password))}`)
  })
}

/** Deletes clusters of test runs that were killed: no process holds their lock any more. */
async function sweep(): Promise<void> {
  const places = [tmpdir(), IN_MEMORY].filter((place) => existsSync(place))
  const left = places.flatMap((place) => readdirSync(place).map((name) => ({ name, dataDir: join(place, name) })))
  for (const { dataDir } of left.filter(({ name }) => name.startsWith(PREFIX))) {
    try {
      if (Date.now() - statSync(dataDir).mtimeMs < MINUTE) continue
      lockDirectory(dataDir)()
      if (existsSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'))) {
        const found = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }), durable: false })
        await found.stop()
      }
      rmSync(dataDir, { recursive: true, force: true })
    } catch {
      // Another test run uses the cluster, or it belongs to another user.
    }
  }
}
