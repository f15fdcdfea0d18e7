import type pg from 'pg'
import { SECOND } from '../clock.ts'
import type { Logger } from '../log.ts'
import { ServerClient } from './client.ts'
import { breakOff, connectionOf } from './socket.ts'
import { DatabaseSilent, isConnectionLost } from './unavailable.ts'

// A connection whose peer has disappeared stays open and silent, and a request on it would wait forever. A long
// statement is silent too. So when an answer is late, a separate connection asks the server what it is doing for the
// silent connections. They are closed if the server does not answer, or is doing nothing for them. An idle service
// sends no such queries.

/**
 * The wait for an answer before the server is asked. Together with the next value, less than the five seconds after
 * which a caller gets an error.
 */
const LATE = SECOND
const ANSWER_WITHIN = 2.5 * SECOND
const LOOK_EVERY = SECOND / 4
/** If two checks are further apart than this, this process itself was blocked, and the silence may be its own. */
const STOOD_STILL = 3 * LOOK_EVERY
/**
 * The number of consecutive times that the server must be doing nothing for a silent connection before the connection
 * is closed.
 */
const DOUBTS = 5
/** The connection for asking is closed after this time without a late answer. */
const KEPT_FOR = 30 * SECOND

const STATES = `select pid, state = 'active' and wait_event_type is distinct from 'Client' as works
  from pg_stat_activity where pid = any($1::integer[])`

type Watched = { client: pg.Client; waitingSince: number | undefined; doubts: number }

export type Silence = {
  /** Watches the connection until it ends. */
  watch(client: pg.Client): void
  stop(): void
}

export function watchForSilence(options: {
  address: string
  log: Logger
  /** The maximum duration of a statement on the server. A connection that is silent for longer is always closed. */
  longestMs: number
  /** True behind a pooler: the server does not know our connections. */
  pooled?: boolean
  /** Called if the server did not answer at all. */
  onSilent?(): void
}): Silence {
  const { address, log, longestMs, pooled = false, onSilent } = options
  const all = new Set<Watched>()
  let asking = false
  let asker: ServerClient | undefined
  let askedAt = performance.now()
  let lookedAt = performance.now()
  let stoodStillAt = Number.NEGATIVE_INFINITY

  const drop = (watched: Watched, reason: string): void => {
    all.delete(watched)
    breakOff(watched.client, new DatabaseSilent(reason))
  }

  const dismissAsker = (): void => {
    if (asker) breakOff(asker, new DatabaseSilent('no longer needed'))
    asker = undefined
  }

  /** Returns the backends that are working for us, or `all` if that is unknown but the server answers. */
  async function askServer(pids: number[]): Promise<Set<number> | 'all'> {
    if (!asker) {
      const opening = new ServerClient({ connectionString: address })
      asker = opening
      opening.on('end', () => {
        if (asker === opening) asker = undefined
      })
      await opening.connect()
      // The sign-in role sees the activity of its own sessions; the role that it switches to does not.
      if (!pooled) await opening.query('set role none')
    }
    if (pooled) {
      await asker.query('select 1')
      return 'all'
    }
    const { rows } = await asker.query<{ pid: number; works: boolean }>(STATES, [pids])
    return new Set(rows.filter(({ works }) => works).map(({ pid }) => pid))
  }

  async function answered(pids: number[]): Promise<Set<number> | 'all' | undefined> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ANSWER_WITHIN, undefined)
    })
    const answer = askServer(pids).catch((error: Error & { code?: string; severity?: string }) => {
      if (!isConnectionLost(error) || error.severity !== undefined) return 'all' as const
      return undefined
    })
    const result = await Promise.race([answer, tooLate])
    clearTimeout(timer)
    if (result === undefined) dismissAsker()
    return result
  }

  async function ask(late: Watched[]): Promise<void> {
    askedAt = performance.now()
    const at = askedAt
    const works = await answered(late.map(({ client }) => processOf(client)))
    if (stoodStillAt >= at) return
    if (works === undefined) {
      log.warn({ connections: all.size }, 'the database does not answer; its connections are given up')
      for (const watched of [...all])
        if (watched.waitingSince === undefined || watched.waitingSince < at)
          drop(watched, 'the database does not answer')
      onSilent?.()
      return
    }
    for (const watched of late) {
      if (watched.waitingSince === undefined || watched.waitingSince > at) continue
      const idle = works !== 'all' && !works.has(processOf(watched.client))
      // Requires several checks: the first may have crossed the awaited answer on its way, and on a busy machine bytes
      // arrive late.
      watched.doubts = idle ? watched.doubts + 1 : 0
      if (watched.doubts >= DOUBTS) drop(watched, 'the connection to the database broke without a word')
      else if (at - watched.waitingSince > longestMs) drop(watched, 'the database took too long')
    }
  }

  const look = (): void => {
    const now = performance.now()
    if (now - lookedAt > STOOD_STILL) stoodStillAt = now
    lookedAt = now
    if (asking || stoodStillAt === now) return
    const late = [...all].filter(({ waitingSince }) => waitingSince !== undefined && now - waitingSince > LATE)
    if (late.length > 0) {
      asking = true
      void ask(late).finally(() => {
        asking = false
      })
    } else if (asker && now - askedAt > KEPT_FOR) dismissAsker()
  }
  const timer = setInterval(look, LOOK_EVERY)
  timer.unref()

  return {
    watch(client) {
      const watched: Watched = { client, waitingSince: undefined, doubts: 0 }
      all.add(watched)
      const { stream } = connectionOf(client)
      const write = stream.write.bind(stream) as (...chunk: never[]) => boolean
      stream.write = ((...chunk: never[]) => {
        watched.waitingSince ??= performance.now()
        return write(...chunk)
      }) as typeof stream.write
      stream.on('data', () => {
        if (watched.waitingSince !== undefined) watched.waitingSince = performance.now()
      })
      client.on('drain', () => {
        watched.waitingSince = undefined
        watched.doubts = 0
      })
      client.on('end', () => all.delete(watched))
    },
    stop() {
      clearInterval(timer)
      dismissAsker()
    },
  }
}

const processOf = (client: pg.Client): number => (client as unknown as { processID: number | null }).processID ?? 0
