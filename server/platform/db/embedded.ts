import { realpathSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import { makeDataDirectory } from '#platform/data-directory'
import type { Logger } from '#platform/log'
import { isAlive } from './account.ts'
import { findBinaries } from './binaries.ts'
import { type Cluster, makeCluster, type Postmaster, signal } from './cluster.ts'
import { findClusterDirectory, SYSTEM_DIRECTORIES } from './cluster-directory.ts'
import { lockDirectory } from './lock.ts'

// The program's own PostgreSQL. The server is detached and outlives a killed heddle process; the next heddle process
// adopts it. The process that holds the lock of the data directory owns the server, so the code below runs in one
// process at a time.

export type EmbeddedPostgres = {
  /** The superuser's address of the maintenance database. bootstrapRoles creates everything else from it. */
  readonly ownerUrl: string
  /**
   * The directory of cluster, log and password. It is inside the data directory unless the database's account cannot
   * enter it.
   */
  readonly directory: string
  /** Whether the server was already running. */
  readonly adopted: boolean
  readonly postmasterPid: number
  /**
   * Resolves when a new cluster is on disk, and immediately for an existing cluster. The database can be used before,
   * but no write may be acknowledged.
   */
  readonly onDisk: Promise<void>
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  log: Logger
  /** False: no fsync, for clusters that are thrown away. */
  durable?: boolean
  /** The maximum number of connections that the program opens. */
  connections?: number
  /** Directories for programs and data if the database's account cannot enter root's directories. */
  places?: string[]
  /**
   * Called when PostgreSQL starts to work, which takes a moment: initdb creates the cluster, the server starts, or a
   * running server was found.
   */
  onLaunched?: () => void
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, durable = true, connections = 0, places = SYSTEM_DIRECTORIES, onLaunched } = options
  makeDataDirectory(options.dataDir)
  const dataDir = realpathSync(options.dataDir)
  const releases = [lockDirectory(dataDir)]
  try {
    const home = findClusterDirectory({ dataDir, places, log })
    // A copied data directory refers to the same database as the original. Only one of the two may use it at a time.
    if (home.directory !== join(dataDir, 'postgres')) releases.push(lockDirectory(home.directory))
    const binaries = findBinaries({ account: home.account, places: home.account ? places : [home.directory], log })
    const cluster = makeCluster({ home, binaries, durable, connections, ...(onLaunched && { onLaunched }) })
    await cluster.create()
    const running = await cluster.adopt()
    if (running) onLaunched?.()
    const postmaster = running ?? (await launchOnFreePort(cluster))
    log.info(
      { directory: home.directory, port: postmaster.port, postmaster: postmaster.pid },
      running ? 'connected to the database server that was already running' : 'database started',
    )
    const supervisor = supervise({ cluster, postmaster, log })
    const leaving = new AbortController()
    const onDisk = cluster.sync(leaving.signal)
    onDisk.catch(() => {})
    return {
      ownerUrl: cluster.url(postmaster),
      directory: home.directory,
      adopted: running !== undefined,
      get postmasterPid() {
        return supervisor.pid()
      },
      onDisk,
      async stop() {
        leaving.abort()
        await onDisk.catch(() => {})
        await supervisor.stop()
        for (const release of releases) release()
      },
    }
  } catch (error) {
    for (const release of releases) release()
    throw error
  }
}

/** Restarts a dead server on its old port, which the pools use. A server that was stopped stays down. */
function supervise(options: { cluster: Cluster; postmaster: Postmaster; log: Logger }) {
  const { cluster, log } = options
  let { postmaster } = options
  let stopping = false
  let revival: Promise<void> | undefined

  const revive = async (): Promise<void> => {
    log.error({ postmaster: postmaster.pid }, 'the database server exited; restarting it')
    while (!stopping) {
      try {
        postmaster = await cluster.launch(postmaster.port)
        log.info({ postmaster: postmaster.pid }, 'database restarted')
        return
      } catch (error) {
        log.error({ err: error }, 'the database server does not start; trying again')
        await delay(SECOND / 2)
      }
    }
  }
  // An adopted server is not our child and sends no event when it ends, so its state is polled.
  const watch = setInterval(() => {
    if (revival !== undefined || isAlive(postmaster.pid)) return
    revival = revive().finally(() => {
      revival = undefined
    })
  }, SECOND / 5).unref()

  const ended = async (within: number): Promise<boolean> => {
    for (const deadline = Date.now() + within; Date.now() < deadline; await delay(10)) {
      if (!isAlive(postmaster.pid)) return true
    }
    return false
  }

  return {
    pid: () => postmaster.pid,
    async stop(): Promise<void> {
      stopping = true
      clearInterval(watch)
      await revival
      // SIGINT (fast): ends sessions, then writes a checkpoint. SIGQUIT (immediate): no checkpoint, the next start
      // recovers from the log.
      signal(postmaster.pid, 'SIGINT')
      if (await ended(4 * SECOND)) return
      signal(postmaster.pid, 'SIGQUIT')
      if (!(await ended(SECOND / 2))) await cluster.endLeftovers()
    },
  }
}

async function launchOnFreePort(cluster: Cluster): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await cluster.launch(await freePort())
    } catch (error) {
      const taken = error instanceof Error && error.message.includes('Address already in use')
      if (!taken || attempt === 5) throw error
    }
  }
}

/**
 * Returns a port below the ephemeral range. A port inside that range could be in use by an outgoing connection when the
 * server must restart.
 */
async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return free ? port : freePort()
}
