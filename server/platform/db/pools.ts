import pg from 'pg'
import type { Logger } from '../log.ts'
import { CONNECT_WITHIN, ServerClient, UnnamedClient } from './client.ts'
import { type Kind, optionsFor, STATEMENT_TIMEOUT } from './session.ts'
import { connectionOf } from './socket.ts'
import { type UnresponsiveWatch, watchUnresponsive } from './unresponsive.ts'
import { readWholeMessages } from './whole-messages.ts'

const ignored = (): void => {}

/**
 * Sends all statements of one turn of the event loop in one packet: a system call per statement used a third of the CPU
 * time of a busy server.
 */
function sendTogether(client: pg.Client): void {
  const { stream } = connectionOf(client)
  const cork = stream.cork.bind(stream)
  const write = stream.write.bind(stream)
  let held = false
  const release = (): void => {
    held = false
    stream.uncork()
  }
  const hold = (): void => {
    if (held) return
    held = true
    cork()
    process.nextTick(release)
  }
  stream.cork = () => {
    hold()
    cork()
  }
  stream.write = ((...chunk: never[]) => {
    hold()
    return (write as (...all: never[]) => boolean)(...chunk)
  }) as typeof stream.write
}

/** Adds session options to those of the address. The driver would otherwise use only the options of the address. */
function withOptions(address: string, options: string): string {
  const url = new URL(address)
  url.searchParams.set('options', [url.searchParams.get('options'), options].filter(Boolean).join(' '))
  return url.href
}

/**
 * Creates pools whose connections find the server that accepts writes, apply the session settings, and are watched for
 * silence.
 */
export function makePools(options: {
  log: Logger
  /** A pooler gives each transaction any session, so the settings are then stored in the roles instead. */
  pooler: 'none' | 'named' | 'unnamed'
  onSilent(): void
}) {
  const { log, pooler, onSilent } = options
  const pooled = pooler !== 'none'
  const pools: pg.Pool[] = []
  const watches = new Map<string, UnresponsiveWatch>()
  let closing = false

  const watchOf = (address: string): UnresponsiveWatch => {
    const found =
      watches.get(address) ?? watchUnresponsive({ address, log, pooled, longestMs: 2 * STATEMENT_TIMEOUT, onSilent })
    watches.set(address, found)
    return found
  }

  return {
    open(
      kind: Kind,
      address: string,
      { max, min = 0, settings = {} }: { max: number; min?: number; settings?: Record<string, string> },
    ): pg.Pool {
      const pool = new pg.Pool({
        Client: (pooler === 'unnamed' ? UnnamedClient : ServerClient) as never,
        connectionString: pooled ? address : withOptions(address, optionsFor(kind, settings)),
        max,
        min,
        pipeline: true,
        connectionTimeoutMillis: CONNECT_WITHIN,
        idleTimeoutMillis: 30_000,
      } as pg.PoolConfig)
      const watch = watchOf(address)
      // Without a listener, an idle connection that breaks would end the process. Only the message is logged: the error
      // contains the connection, including the key that cancels its queries.
      pool.on('error', (error) => {
        if (!closing) log.warn({ reason: error.message }, 'an idle database connection broke')
      })
      // A dying server can report an error twice on one connection, the second time when no request uses it any more.
      // The first error has already failed the request.
      pool.on('connect', (client) => {
        client.on('error', ignored)
        sendTogether(client as unknown as pg.Client)
        readWholeMessages(client)
        watch.watch(client as unknown as pg.Client)
      })
      pools.push(pool)
      return pool
    },
    async close(): Promise<void> {
      closing = true
      for (const watch of watches.values()) watch.stop()
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}
