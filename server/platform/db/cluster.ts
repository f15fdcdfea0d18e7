import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { MINUTE, SECOND } from '#platform/clock'
import { isAlive, seesProcesses, serversIn, spawnAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { Home } from './place.ts'
import { StartRefused } from './refused.ts'
import { asLines, connectionsFor, memoryOfMachine, settingsFor } from './tuning.ts'

export type Postmaster = {
  readonly pid: number
  readonly port: number
  /** Where its Unix socket is; empty for one that is reached by TCP alone. */
  readonly socketDirectory: string
}

export type Cluster = {
  url(postmaster: Postmaster): string
  /** Makes the cluster where there is none yet. */
  create(): Promise<void>
  /** The server that an earlier heddle left behind, if it is alive and really serves this cluster. */
  adopt(): Promise<Postmaster | undefined>
  /** Ends what is left of an earlier server, then starts one. */
  launch(port: number): Promise<Postmaster>
  endLeftovers(): Promise<void>
  /** Writes a cluster that was made without waiting for the disk to it. The server may run meanwhile, but nothing may be promised before. */
  sync(signal: AbortSignal): Promise<void>
}

const SUPERUSER = 'postgres'
const CONFIGURATION = 'postgresql.conf'
/** The whole file system at once, where the system can do that: one of the disk's flushes instead of a thousand. */
const WHOLE = 'syncfs'
const LARGEST_LOG_BYTES = 10 << 20
/** Milliseconds between two looks at a server that starts. */
const LOOK_EVERY = 10

/** Given at every start: the service relies on them. */
const fixed = {
  listen_addresses: '127.0.0.1',
  // A backend whose heddle was killed notices within a second, even in the middle of a long statement.
  client_connection_check_interval: '1s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors of statements reach the service, which logs them; here they would only copy tenants' values to a file.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}

/** What the kernel takes as the path of a socket, less the name that PostgreSQL gives it. */
const MAX_SOCKET_DIRECTORY = 103 - '/.s.PGSQL.65535'.length

/** For tests, whose processes each start several services on the same server. */
const fast = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '400',
  // To make and to drop a database PostgreSQL looks at each of its buffers.
  shared_buffers: '128MB',
  // What a checkpoint leaves of the log stays in memory where the cluster is there.
  min_wal_size: '80MB',
  max_wal_size: '512MB',
  // A password is hashed once with each connection instead of 4,096 times, on both sides.
  scram_iterations: '1',
}

const flags = (settings: Record<string, string>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

const run = promisify(execFile)

export function makeCluster(options: {
  home: Home
  binaries: Binaries
  durable: boolean
  /** How many the program opens at most. */
  connections: number
  onLaunched?: () => void
}): Cluster {
  const { home, binaries, durable, connections, onLaunched } = options
  const { account } = home
  const directory = join(home.directory, 'cluster')
  const unfinished = join(home.directory, 'cluster.unfinished')
  const passwordFile = join(home.directory, 'password')
  const logFile = join(home.directory, 'postgres.log')
  const pidFile = join(directory, 'postmaster.pid')
  /** There until the cluster is on disk. Nothing was ever promised of a cluster beside which it stands. */
  const unsynced = join(home.directory, 'cluster.unsynced')

  const socketDirectory = Buffer.byteLength(home.directory) <= MAX_SOCKET_DIRECTORY ? home.directory : ''

  // A statement over the Unix socket costs us three quarters of the processor time that it costs over TCP.
  const url = (postmaster: Postmaster): string => {
    const password = readFileSync(passwordFile, 'utf8').trim()
    const address = new URL(`postgresql://${SUPERUSER}:${password}@127.0.0.1:${postmaster.port}/postgres`)
    if (postmaster.socketDirectory) address.searchParams.set('host', postmaster.socketDirectory)
    return address.href
  }

  async function create(): Promise<void> {
    if (existsSync(directory)) return checkVersion()
    await endLeftovers()
    rmSync(unfinished, { recursive: true, force: true })
    writeFileSync(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (account) chownSync(passwordFile, account.uid, account.gid)
    // Its working directory is the home, so that an initdb which outlives a killed heddle is found and ended.
    const making = run(
      binaries.path('initdb'),
      [
        ['--pgdata', unfinished, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
        ['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
        ['--no-sync'],
      ].flat(),
      { ...spawnAs(account), cwd: home.directory },
    )
    onLaunched?.()
    await making
    appendFileSync(join(unfinished, CONFIGURATION), asLines(settingsFor(memoryOfMachine())))
    if (durable) writeFileSync(unsynced, '', { flush: true })
    renameSync(unfinished, directory)
  }

  async function sync(signal: AbortSignal): Promise<void> {
    if (!existsSync(unsynced)) return
    const by = (method: string) =>
      run(binaries.path('initdb'), ['--sync-only', '--sync-method', method, '--pgdata', directory], {
        ...spawnAs(account),
        cwd: home.directory,
        signal,
      })
    await by(WHOLE).catch((error: unknown) => {
      if (signal.aborted) throw error
      return by('fsync')
    })
    rmSync(unsynced)
  }

  function checkVersion(): void {
    const made = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
    const [major] = binaries.version.split('.')
    if (made === major) return
    throw new StartRefused(
      `The database in ${directory} was made by PostgreSQL ${made}; this heddle comes with ${major}. Move it with pg_dump and pg_restore.`,
    )
  }

  async function endLeftovers(): Promise<void> {
    const places = [home.directory, directory, unfinished]
    for (let pids = await serversIn(account, places); pids.length > 0; pids = await serversIn(account, places)) {
      // Their postmaster is gone or does not answer, and crash recovery follows: nothing is gained by asking first.
      for (const pid of pids) signal(pid, 'SIGKILL')
      await delay(20)
    }
  }

  async function adopt(): Promise<Postmaster | undefined> {
    const found = readPidFile(pidFile)
    if (found?.directory !== directory || !isAlive(found.pid)) return undefined
    if (seesProcesses && !(await serversIn(account, [directory])).includes(found.pid)) return undefined
    for (const deadline = Date.now() + MINUTE; isAlive(found.pid) && Date.now() < deadline; await delay(50)) {
      const now = readPidFile(pidFile) ?? found
      if (now.ready && now.pid === found.pid && (await serves(url(now), directory))) return now
    }
    return undefined
  }

  async function launch(port: number): Promise<Postmaster> {
    await endLeftovers()
    // Nothing runs here any more, so the file is stale; its process id may meanwhile be another program's, and PostgreSQL
    // would then refuse to start. Without /proc we cannot know, and leave the judgement to PostgreSQL.
    if (seesProcesses) {
      rmSync(pidFile, { force: true })
      rmSync(join(home.directory, `.s.PGSQL.${port}.lock`), { force: true })
    }
    if (existsSync(logFile) && statSync(logFile).size > LARGEST_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
    const settings = {
      ...fixed,
      port: String(port),
      unix_socket_directories: socketDirectory && `"${socketDirectory.replaceAll('"', '""')}"`,
      ...connectionsFor(connections, readFileSync(join(directory, CONFIGURATION), 'utf8')),
      ...(durable ? {} : fast),
    }
    // A pipe would break with us and take the server's log with it; a file stays.
    const output = openSync(logFile, 'a', 0o600)
    const before = statSync(logFile).size
    const server = spawn(binaries.path('postgres'), ['-D', directory, ...flags(settings)], {
      ...spawnAs(account),
      detached: true,
      stdio: ['ignore', output, output],
    })
    closeSync(output)
    server.unref()
    onLaunched?.()
    let failure: string | undefined
    server.once('error', (error) => {
      failure = error.message
    })
    while (failure === undefined && server.exitCode === null && server.signalCode === null) {
      const found = readPidFile(pidFile)
      // Our own process, which was told its directory, says that it takes connections.
      if (found?.ready && found.pid === server.pid) return found
      await delay(LOOK_EVERY)
    }
    failure ??= readFileSync(logFile, 'utf8').slice(before).trim()
    throw new Error(`PostgreSQL did not start: ${failure}`)
  }

  return { url, create, adopt, launch, endLeftovers, sync }
}

/** The lines of postmaster.pid: process id, data directory, start time, port, socket directory, address, key, state. */
function readPidFile(file: string): (Postmaster & { directory?: string; ready: boolean }) | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return {
      pid: Number(lines[0]),
      directory: lines[1],
      port: Number(lines[3]),
      socketDirectory: lines[4] ?? '',
      ready: lines[7]?.trim() === 'ready',
    }
  } catch {
    return undefined
  }
}

/** Whether a server takes our password there and says that it serves this very directory. */
async function serves(url: string, directory: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5 * SECOND })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query("select current_setting('data_directory') as directory")
    return rows[0].directory === directory
  } catch (error) {
    if (!isWrongPassword(error)) return false
    throw refusePassword(directory)
  } finally {
    await client.end().catch(() => {})
  }
}

export const isWrongPassword = (error: unknown): boolean => (error as { code?: string }).code === '28P01'

export const refusePassword = (directory: string): StartRefused =>
  new StartRefused(`The database in ${directory} does not take the password kept beside it. Bring back the right file.`)

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
