import type pg from 'pg'
import { SECOND } from '../clock.ts'
import type { Logger } from '../log.ts'
import { ServerClient } from './client.ts'
import { breakOff, connectionOf } from './socket.ts'
import { DatabaseSilent, isConnectionLost } from './unavailable.ts'

// A connection whose peer has vanished stays open and silent, and a request that waits for its answer would wait for ever. A long
// statement is silent too. So when an answer is late the server is asked, on a connection kept for that, what it does for
// the silent ones: if it does not answer, or has nothing to do for them, they are broken off. An idle service asks nothing.

/** How late an answer is before the server is asked. With the next, less than the five seconds after which a caller is told. */
const LATE = SECOND
const ANSWER_WITHIN = 2.5 * SECOND
const LOOK_EVERY = SECOND / 4
/** This process itself stood still: what it takes for silence may be its own. */
const STOOD_STILL = 3 * LOOK_EVERY
/** How often in a row the server must have nothing to do for a silent connection before it is broken off. */
const DOUBTS = 5
/** The connection for asking is closed when nothing was late for so long. */
const KEPT_FOR = 30 * SECOND

const STATES = `select pid, state = 'active' and wait_event_type is distinct from 'Client' as works
  from pg_stat_activity where pid = any($1::integer[])`

type Watched = { client: pg.Client; waitingSince: number | undefined; doubts: number }

export type Silence = {
  /** From now on, until it ends. */
  watch(client: pg.Client): void
  stop(): void
}

export function watchForSilence(options: {
  address: string
  log: Logger
  /** A statement may take so long on the server; a connection that is silent for longer is broken off in any case. */
  longestMs: number
  /** A pooler in between: the server knows nothing of our connections. */
  pooled?: boolean
  /** The server did not answer at all. */
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

  /** The backends that work for us; `all` where that cannot be known but the server lives. */
  async function askServer(pids: number[]): Promise<Set<number> | 'all'> {
    if (!asker) {
      const opening = new ServerClient({ connectionString: address })
      asker = opening
      opening.on('end', () => {
        if (asker === opening) asker = undefined
      })
      await opening.connect()
      // The sign-in role sees what its own sessions do; the role that it becomes does not.
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
      // Several times: the first answer may have crossed the one that was waited for, and on a busy machine bytes are late.
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
