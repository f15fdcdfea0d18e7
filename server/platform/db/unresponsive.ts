import type pg from 'pg'
import { SECOND } from '../clock.ts'
import type { Logger } from '../log.ts'
import { ServerClient } from './client.ts'
import { connectionOf, destroyConnection } from './socket.ts'
import { DatabaseUnresponsive, isConnectionLost } from './unavailable.ts'

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
const CHECK_EVERY = SECOND / 4
/** If two checks are further apart than this, this process itself was blocked, and the silence may be its own. */
const BLOCKED_AFTER = 3 * CHECK_EVERY
/**
 * The number of consecutive times that the server must be doing nothing for a silent connection before the connection
 * is closed.
 */
const MAX_IDLE_CHECKS = 5
/** The connection for asking is closed after this time without a late answer. */
const PROBE_KEPT_FOR = 30 * SECOND

const STATES = `select pid, state = 'active' and wait_event_type is distinct from 'Client' as works
  from pg_stat_activity where pid = any($1::integer[])`

type Watched = { client: pg.Client; waitingSince: number | undefined; idleChecks: number }

export type UnresponsiveWatch = {
  /** Watches the connection until it ends. */
  watch(client: pg.Client): void
  stop(): void
}

export function watchUnresponsive(options: {
  address: string
  log: Logger
  /** The maximum duration of a statement on the server. A connection that is silent for longer is always closed. */
  longestMs: number
  /** True behind a pooler: the server does not know our connections. */
  pooled?: boolean
  /** Called if the server did not answer at all. */
  onSilent?(): void
}): UnresponsiveWatch {
  const { address, log, longestMs, pooled = false, onSilent } = options
  const all = new Set<Watched>()
  let isProbing = false
  let probe: ServerClient | undefined
  let probedAt = performance.now()
  let checkedAt = performance.now()
  let blockedAt = Number.NEGATIVE_INFINITY

  const drop = (watched: Watched, reason: string): void => {
    all.delete(watched)
    destroyConnection(watched.client, new DatabaseUnresponsive(reason))
  }

  const closeProbe = (): void => {
    if (probe) destroyConnection(probe, new DatabaseUnresponsive('no longer needed'))
    probe = undefined
  }

  /** Returns the backends that are working for us, or `all` if that is unknown but the server answers. */
  async function probeServer(pids: number[]): Promise<Set<number> | 'all'> {
    if (!probe) {
      const opening = new ServerClient({ connectionString: address })
      probe = opening
      opening.on('end', () => {
        if (probe === opening) probe = undefined
      })
      await opening.connect()
      // The sign-in role sees the activity of its own sessions; the role that it switches to does not.
      if (!pooled) await opening.query('set role none')
    }
    if (pooled) {
      await probe.query('select 1')
      return 'all'
    }
    const { rows }: pg.QueryResult<{ pid: number; works: boolean }> = await probe.query(STATES, [pids])
    return new Set(rows.filter(({ works }) => works).map(({ pid }) => pid))
  }

  async function answered(pids: number[]): Promise<Set<number> | 'all' | undefined> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ANSWER_WITHIN, undefined)
    })
    const answer = probeServer(pids).catch((error: Error & { code?: string; severity?: string }) => {
      if (!isConnectionLost(error) || error.severity !== undefined) return 'all' as const
      return undefined
    })
    const result = await Promise.race([answer, tooLate])
    clearTimeout(timer)
    if (result === undefined) closeProbe()
    return result
  }

  async function checkLate(late: Watched[]): Promise<void> {
    probedAt = performance.now()
    const at = probedAt
    const works = await answered(late.map(({ client }) => processOf(client)))
    if (blockedAt >= at) return
    if (works === undefined) {
      log.warn({ connections: all.size }, 'the database does not answer; closing its connections')
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
      watched.idleChecks = idle ? watched.idleChecks + 1 : 0
      if (watched.idleChecks >= MAX_IDLE_CHECKS)
        drop(watched, 'the connection to the database ended without an error message')
      else if (at - watched.waitingSince > longestMs) drop(watched, 'the database took too long')
    }
  }

  const check = (): void => {
    const now = performance.now()
    if (now - checkedAt > BLOCKED_AFTER) blockedAt = now
    checkedAt = now
    if (isProbing || blockedAt === now) return
    const late = [...all].filter(({ waitingSince }) => waitingSince !== undefined && now - waitingSince > LATE)
    if (late.length > 0) {
      isProbing = true
      void checkLate(late).finally(() => {
        isProbing = false
      })
    } else if (probe && now - probedAt > PROBE_KEPT_FOR) closeProbe()
  }
  const timer = setInterval(check, CHECK_EVERY)
  timer.unref()

  return {
    watch(client) {
      const watched: Watched = { client, waitingSince: undefined, idleChecks: 0 }
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
        watched.idleChecks = 0
      })
      client.on('end', () => all.delete(watched))
    },
    stop() {
      clearInterval(timer)
      closeProbe()
    },
  }
}

const processOf = (client: pg.Client): number => (client as unknown as { processID: number | null }).processID ?? 0
