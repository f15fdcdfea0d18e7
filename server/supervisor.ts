import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import type { Config } from '#platform/config'
import { connectionsOfOne } from '#platform/db/connections'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#platform/db/embedded'
import { StartRefused } from '#platform/db/refused'
import { bindSharedSocket, type SharedSocket } from '#platform/http/shared-socket'
import { onLauncherExit } from '#platform/launcher'
import { makeLogger } from '#platform/log'
import type { Downward, Upward } from '#platform/peers'
import { MEMBER } from './member.ts'
import { makeRelay } from './relay.ts'

// For `HEDDLE_PROCESSES` over 1: this process owns the embedded database and the listening socket, and starts the
// processes that do the work. A process that dies is replaced. SIGHUP replaces all of them, one after the other. This
// process runs no work of tenants, so no tenant can crash it.

/**
 * The number of listening sockets ("listeners") of a process. Node accepts one connection per listener in a turn of the event
 * loop.
 */
const LISTENERS_OF_ONE = 4
const MIN_PAUSE = SECOND / 2
const MAX_PAUSE = 30 * SECOND
/** A process that lived this long did not die because of its start. */
const LIVED_LONG = 60 * SECOND
const READY_WITHIN = 120 * SECOND
/** Longer than the time that a process allows itself to end. */
const END_WITHIN = 12 * SECOND

type Member = { index: number; child: ChildProcess; ready: Promise<boolean>; startedAt: number; replaced: boolean }

const main = join(import.meta.dirname, 'main.mjs')

/** Returns the number of connections of all processes, including one that replaces another. */
const connectionsOf = ({ role, HEDDLE_PROCESSES: count, HEDDLE_DATABASE_CONNECTIONS: ofOne }: Config): number =>
  (count + 1) * (ofOne ?? connectionsOfOne(role, count))

export async function supervise(config: Config): Promise<void> {
  const log = makeLogger(config.HEDDLE_LOG_LEVEL)
  const count = config.HEDDLE_PROCESSES
  const members = new Map<number, Member>()
  const relay = makeRelay(() => [...members.values()].map(({ child }) => child))
  let database: EmbeddedPostgres | undefined
  let socket: SharedSocket | undefined
  let stopping = false

  const start = (index: number): Member => {
    const child = fork(main, process.argv.slice(2), { env: { ...process.env, [MEMBER]: String(index) } })
    const send = (message: Downward, handle?: unknown): void =>
      void child.send(message, handle as never, undefined, () => {})
    for (let n = 0; n < LISTENERS_OF_ONE; n += 1) for (const handle of socket!.handles) send({ kind: 'socket' }, handle)
    send({ kind: 'begin', index, count, ownDatabase: database?.ownerUrl ?? null, address: socket!.address })
    relay.connect(child)
    const ready = Promise.race([
      new Promise<boolean>((resolve) => {
        child.on('message', (message: Upward) => message.kind === 'ready' && resolve(true))
      }),
      once(child, 'exit').then(() => false),
      delay(READY_WITHIN, false, { ref: false }),
    ])
    return { index, child, ready, startedAt: performance.now(), replaced: false }
  }

  /** Keeps a process running at this index until the program stops. */
  const keep = (member: Member, pause: number): void => {
    members.set(member.index, member)
    member.child.once('exit', async (code, signal) => {
      if (stopping || member.replaced) return
      log.error({ process: member.index, code, signal }, 'a process exited; starting another')
      const lived = performance.now() - member.startedAt
      const next = lived > LIVED_LONG ? MIN_PAUSE : Math.min(MAX_PAUSE, pause * 2)
      await delay(lived > LIVED_LONG ? 0 : pause)
      // A restart may have put another process there in the meantime.
      if (!stopping && members.get(member.index) === member) keep(start(member.index), next)
    })
  }

  const end = async ({ child }: Member, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), config.HEDDLE_DRAIN_S * SECOND + END_WITHIN)
    await ended
    clearTimeout(late)
  }

  let restarting = false
  const restart = async (): Promise<void> => {
    if (restarting || stopping) return
    restarting = true
    log.info('replacing the processes one after the other')
    for (const index of [...members.keys()]) {
      const next = start(index)
      if (!(await next.ready) || stopping) {
        log.error({ process: index }, 'the new process did not start; the old process keeps running')
        await end(next)
        restarting = false
        return
      }
      // Not necessarily the process from the start of the loop: it may have died and been replaced in the meantime.
      const old = members.get(index)!
      old.replaced = true
      keep(next, MIN_PAUSE)
      await end(old)
    }
    restarting = false
    log.info('the processes were replaced')
  }

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    stopping = true
    await Promise.all([...members.values()].map((member) => end(member, signal)))
    socket?.close()
    await database?.stop()
  }

  const leave = (signal: NodeJS.Signals): void => {
    if (stopping) return
    stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(signal))
  process.on('SIGHUP', () => void restart())
  onLauncherExit(() => leave('SIGTERM'))

  try {
    socket = await bindSharedSocket(config)
    if (config.DATABASE_URL === null)
      database = await startEmbeddedPostgres({
        dataDir: config.HEDDLE_DATA_DIR,
        log,
        connections: connectionsOf(config),
      })
    await database?.onDisk
    // The first process migrates and seeds, and it alone reports why the program cannot start.
    const first = start(1)
    members.set(1, first)
    if (!(await first.ready)) throw new StartRefused('the first process did not start; the lines above say why.')
    keep(first, MIN_PAUSE)
    const others = Array.from({ length: count - 1 }, (_, n) => start(n + 2))
    for (const member of others) keep(member, MIN_PAUSE)
    await Promise.all(others.map(({ ready }) => ready))
    if (!stopping) console.log(`heddle ready on ${socket.address}`)
  } catch (error) {
    if (stopping) return
    await stop('SIGINT').catch(() => {})
    throw error
  }
}
