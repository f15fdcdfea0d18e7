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
import type { ClusterDirectory } from './cluster-directory.ts'
import { StartRefused } from './refused.ts'
import { scramVerifier } from './role-passwords.ts'
import { connectionsFor, memoryOfMachine, settingsFor, toConfigLines } from './tuning.ts'

export type Postmaster = {
  readonly pid: number
  readonly port: number
  /** The directory of the Unix socket. Empty if the server can be reached only over TCP. */
  readonly socketDirectory: string
}

export type Cluster = {
  url(postmaster: Postmaster): string
  /** Creates the cluster if there is none yet. */
  create(): Promise<void>
  /** Returns the server that an earlier heddle process left behind, if it is alive and really serves this cluster. */
  adopt(): Promise<Postmaster | undefined>
  /** Kills the remains of an earlier server, then starts a server. */
  launch(port: number): Promise<Postmaster>
  endLeftovers(): Promise<void>
  /**
   * Flushes a cluster that was created without fsync to disk. The server may run during this, but no write may be
   * acknowledged before it ends.
   */
  sync(signal: AbortSignal): Promise<void>
}

const SUPERUSER = 'postgres'
const CONFIGURATION = 'postgresql.conf'
/** Flushes the whole file system at once, if the system supports that: one disk flush instead of a thousand. */
const WHOLE = 'syncfs'
const LARGEST_LOG_BYTES = 10 << 20
/** Milliseconds between two checks of a starting server. */
const LOOK_EVERY = 10

/** Settings that the service relies on. They are passed at every start. */
const fixed = {
  listen_addresses: '127.0.0.1',
  // A backend whose heddle process was killed notices within a second, even in the middle of a long statement.
  client_connection_check_interval: '1s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statement errors reach the service, which logs them. PostgreSQL's own log would only copy tenant values to a file.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}

/** The maximum length of a socket path in the kernel, minus the file name that PostgreSQL adds. */
const MAX_SOCKET_DIRECTORY = 103 - '/.s.PGSQL.65535'.length

/**
 * Settings for a server that did not start, because of an error that the log leaves out. A server that does not start
 * writes no values of tenants.
 */
const withErrors = { log_min_messages: 'error' }
const REASON_ELSEWHERE = 'Consult recent messages in the server log'

/** Settings for tests, whose processes each start several services on the same server. */
const fast = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '400',
  // PostgreSQL scans all its buffers to create or drop a database.
  shared_buffers: '128MB',
  // If the cluster is on a memory file system, the log that remains after a checkpoint uses memory.
  min_wal_size: '80MB',
  max_wal_size: '512MB',
  // Each connection hashes the password once instead of 4,096 times, on both sides.
  scram_iterations: '1',
}

const flags = (settings: Record<string, string>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

const run = promisify(execFile)

export function makeCluster(options: {
  home: ClusterDirectory
  binaries: Binaries
  durable: boolean
  /** The maximum number of connections that the program opens. */
  connections: number
  onLaunched?: () => void
}): Cluster {
  const { home, binaries, durable, connections, onLaunched } = options
  const { account } = home
  const directory = join(home.directory, 'cluster')
  const unfinished = join(home.directory, 'cluster.unfinished')
  const passwordFile = join(home.directory, 'password')
  /** The hash of the password, for initdb. */
  const verifierFile = join(home.directory, 'password.verifier')
  const logFile = join(home.directory, 'postgres.log')
  const pidFile = join(directory, 'postmaster.pid')
  /**
   * A marker file that exists until the cluster is on disk. While it exists, no write to the cluster has been
   * acknowledged.
   */
  const unsynced = join(home.directory, 'cluster.unsynced')

  const socketDirectory = Buffer.byteLength(home.directory) <= MAX_SOCKET_DIRECTORY ? home.directory : ''

  // A statement over the Unix socket costs us three quarters of the CPU time that it costs over TCP.
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
    const password = randomBytes(24).toString('base64url')
    writePrivate(passwordFile, password, account)
    writePrivate(verifierFile, scramVerifier(password), account)
    // The working directory is the home, so that an initdb that outlives a killed heddle process is found and killed.
    const making = run(
      binaries.path('initdb'),
      [
        ['--pgdata', unfinished, '--username', SUPERUSER, '--pwfile', verifierFile, '--auth', 'scram-sha-256'],
        ['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
        ['--no-sync'],
      ].flat(),
      { ...spawnAs(account), cwd: home.directory },
    )
    onLaunched?.()
    await making.catch((error: unknown) => Promise.reject(notCreated(home.directory, error)))
    rmSync(verifierFile)
    appendFileSync(join(unfinished, CONFIGURATION), toConfigLines(settingsFor(memoryOfMachine())))
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
      `The database in ${directory} was created by PostgreSQL ${made}; this heddle comes with ${major}. Move it with pg_dump and pg_restore.`,
    )
  }

  async function endLeftovers(): Promise<void> {
    const places = [home.directory, directory, unfinished]
    for (let pids = await serversIn(account, places); pids.length > 0; pids = await serversIn(account, places)) {
      // The postmaster of these processes is gone or unresponsive, and crash recovery follows anyway. A gentler signal
      // gains nothing.
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

  async function launch(port: number, logged: Record<string, string> = {}): Promise<Postmaster> {
    await endLeftovers()
    // No server runs here any more, so the pid file is stale. Its process id may now belong to another program, and
    // PostgreSQL would then refuse to start. Without /proc we cannot tell, and let PostgreSQL decide.
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
      ...logged,
    }
    // The output goes to a file: a pipe would break when this process dies, and the server would lose its log.
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
      // The process that we started for this directory reports that it accepts connections.
      if (found?.ready && found.pid === server.pid) return found
      await delay(LOOK_EVERY)
    }
    failure ??= readFileSync(logFile, 'utf8').slice(before).trim()
    if (failure.includes(REASON_ELSEWHERE) && logged !== withErrors) return launch(port, withErrors)
    throw new StartRefused(
      `The database in ${home.directory} did not start: ${problemIn(failure) || failure}. Its log is ${logFile}.`,
    )
  }

  return { url, create, adopt, launch, endLeftovers, sync }
}

/** Returns the messages in a log of PostgreSQL, without their times and without those of every start. */
const problemIn = (log: string): string =>
  [...log.matchAll(/(?:FATAL|PANIC|ERROR|LOG|HINT|DETAIL|initdb: error): +(.*)/g)]
    .map(([, message]) => message!)
    .filter((message) => !/^(?:starting|listening|database system|redo) /.test(message))
    .join('; ')

function notCreated(directory: string, cause: unknown): StartRefused {
  const { message, stderr } = cause as Error & { stderr?: string }
  return new StartRefused(`The database in ${directory} could not be created: ${problemIn(stderr ?? '') || message}`, {
    cause,
  })
}

/** Writes a line that only the database's account can read. */
function writePrivate(file: string, line: string, account: ClusterDirectory['account']): void {
  writeFileSync(file, `${line}\n`, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
}

/**
 * Reads the lines of postmaster.pid: process id, data directory, start time, port, socket directory, address, key,
 * state.
 */
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

/** Checks whether the server at the URL accepts our password and serves this directory. */
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
  new StartRefused(
    `The database in ${directory} does not accept the password stored beside it. Restore the right password file.`,
  )

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
