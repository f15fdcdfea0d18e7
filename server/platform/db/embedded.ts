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
import { lockDirectory } from './lock.ts'
import { findHome, SYSTEM_PLACES } from './place.ts'

// The program's own PostgreSQL. The server is detached and outlives a killed heddle; the next heddle adopts it. The process that
// holds the lock of the data directory owns the server, so everything below happens in one process at a time.

export type EmbeddedPostgres = {
  /** The superuser's address of the maintenance database; bootstrapRoles makes everything else from it. */
  readonly ownerUrl: string
  /** Where cluster, log and password are: inside the data directory unless the database's account cannot enter it. */
  readonly directory: string
  /** Whether the server was already running. */
  readonly adopted: boolean
  readonly postmasterPid: number
  /** Fulfilled when a new cluster is on disk, at once for any other. Before that it can be worked with, but nothing may be promised. */
  readonly onDisk: Promise<void>
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  log: Logger
  /** false: no fsync, for clusters that are thrown away. */
  durable?: boolean
  /** How many connections the program opens at most. */
  connections?: number
  /** Where programs and data may go when root's directories are closed to the database's account. */
  places?: string[]
  /** Called when PostgreSQL is at work, which will take a moment: it makes its cluster, or the server starts, or was found running. */
  onLaunched?: () => void
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, durable = true, connections = 0, places = SYSTEM_PLACES, onLaunched } = options
  makeDataDirectory(options.dataDir)
  const dataDir = realpathSync(options.dataDir)
  const releases = [lockDirectory(dataDir)]
  try {
    const home = findHome({ dataDir, places, log })
    // A copied data directory points to the same database as the original: one of the two at a time.
    if (home.directory !== join(dataDir, 'postgres')) releases.push(lockDirectory(home.directory))
    const binaries = findBinaries({ account: home.account, places: home.account ? places : [home.directory], log })
    const cluster = makeCluster({ home, binaries, durable, connections, ...(onLaunched && { onLaunched }) })
    await cluster.create()
    const running = await cluster.adopt()
    if (running) onLaunched?.()
    const postmaster = running ?? (await launchOnFreePort(cluster))
    log.info(
      { directory: home.directory, port: postmaster.port, postmaster: postmaster.pid },
      running ? 'database adopted' : 'database started',
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

/** A dead server is started again on its old port, which the pools know; a server that was stopped stays down. */
function supervise(options: { cluster: Cluster; postmaster: Postmaster; log: Logger }) {
  const { cluster, log } = options
  let { postmaster } = options
  let stopping = false
  let revival: Promise<void> | undefined

  const revive = async (): Promise<void> => {
    log.error({ postmaster: postmaster.pid }, 'the database server died; starting it again')
    while (!stopping) {
      try {
        postmaster = await cluster.launch(postmaster.port)
        log.info({ postmaster: postmaster.pid }, 'database started again')
        return
      } catch (error) {
        log.error({ err: error }, 'the database server does not start; trying again')
        await delay(SECOND / 2)
      }
    }
  }
  // An adopted server is not our child and sends no event when it ends, hence the look every so often.
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
      // Fast: sessions are ended, then a checkpoint. Immediate: no checkpoint, the next start recovers from the log.
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

/** Below the ephemeral range: a port from inside it could be somebody's outgoing connection when the server must restart. */
async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return free ? port : freePort()
}
