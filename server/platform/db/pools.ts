import pg from 'pg'
import type { Logger } from '../log.ts'
import { CONNECT_WITHIN, ServerClient, UnnamedClient } from './client.ts'
import { type Kind, optionsFor, STATEMENT_TIMEOUT } from './session.ts'
import { type Silence, watchForSilence } from './silence.ts'
import { connectionOf } from './socket.ts'
import { readWholeMessages } from './whole-messages.ts'

const ignored = (): void => {}

/**
 * What is said to the database in one turn of the event loop leaves in one packet: a system call for each statement was a
 * third of the processor time of a busy server.
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

/** A session is told more than its address says: the driver would take the options of the address alone. */
function withOptions(address: string, options: string): string {
  const url = new URL(address)
  url.searchParams.set('options', [url.searchParams.get('options'), options].filter(Boolean).join(' '))
  return url.href
}

/** Pools whose connections find the server that takes writes, say what their sessions may do, and are watched for silence. */
export function makePools(options: {
  log: Logger
  /** A pooler hands each transaction to any session: the settings of the roles say what it may do. */
  pooler: 'none' | 'named' | 'unnamed'
  onSilent(): void
}) {
  const { log, pooler, onSilent } = options
  const pooled = pooler !== 'none'
  const pools: pg.Pool[] = []
  const watches = new Map<string, Silence>()
  let closing = false

  const watchOf = (address: string): Silence => {
    const found =
      watches.get(address) ?? watchForSilence({ address, log, pooled, longestMs: 2 * STATEMENT_TIMEOUT, onSilent })
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
      // Without a listener an idle connection that breaks would end the process.
      // Not the error itself: it carries the connection, and with it the key that cancels its queries.
      pool.on('error', (error) => {
        if (!closing) log.warn({ reason: error.message }, 'an idle database connection broke')
      })
      // A server that dies can report it twice on one connection, the second time when nobody holds it any more; the first
      // has failed the request that was using it.
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
