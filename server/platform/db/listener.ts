import pg from 'pg'
import { SECOND } from '../clock.ts'
import type { Logger } from '../log.ts'
import { ServerClient } from './client.ts'
import { destroyConnection } from './socket.ts'
import { DatabaseUnresponsive } from './unavailable.ts'

// One connection listens for the whole process, because PostgreSQL wakes every listening connection for every NOTIFY,
// regardless of its channel.

export type OnHint = (payload: string) => void

const RETRY_MS = 250
/** This connection only listens, so it polls the server to notice that the peer has disappeared. */
const ASK_EVERY = 10 * SECOND
const ANSWER_WITHIN = 4 * SECOND

const ignored = (): void => {}

type Listening = { client: pg.Client; query(text: string): Promise<unknown> }

/**
 * Sends one statement at a time. The driver warns about a statement that is sent while another is running, and will
 * refuse it in a later version.
 */
function inTurn(client: pg.Client): Listening['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (text) => {
    const sent = last.then(() => client.query(text))
    last = sent.catch(ignored)
    return sent
  }
}

export function makeListener(options: { url: string; log: Logger; received(channel: string, payload: string): void }) {
  const { url, log, received } = options
  const channels = new Map<string, Set<OnHint>>()
  let connection: Promise<Listening> | undefined
  let retry: NodeJS.Timeout | undefined

  const listenStatement = (channel: string): string => `listen ${pg.escapeIdentifier(channel)}`

  async function connect(): Promise<Listening> {
    const client = new ServerClient({ connectionString: url, query_timeout: ANSWER_WITHIN })
    client.on('notification', ({ channel, payload }) => received(channel, payload ?? ''))
    await client.connect()
    const query = inTurn(client)
    const mine = connection
    const lost = (): void => {
      if (connection !== mine) return
      connection = undefined
      if (channels.size > 0) reconnectSoon()
    }
    const asking = setInterval(() => {
      query('select 1').catch((error: Error) => destroyConnection(client, error))
    }, ASK_EVERY)
    asking.unref()
    client.on('error', lost).on('end', lost)
    client.on('end', () => clearInterval(asking))
    if (channels.size > 0)
      await query([...channels.keys()].map(listenStatement).join(';')).catch((error: Error) => {
        // Otherwise this connection would stay open next to the one that replaces it.
        destroyConnection(client, error)
        throw error
      })
    return { client, query }
  }

  const connected = (): Promise<Listening> => {
    if (connection) return connection
    const connecting = connect()
    connection = connecting
    connecting.catch(() => {
      if (connection === connecting) connection = undefined
    })
    return connecting
  }

  function reconnectSoon(): void {
    clearTimeout(retry)
    retry = setTimeout(async () => {
      try {
        await connected()
        // Anything may have changed while the connection was lost.
        for (const channel of channels.keys()) notify(channel, '')
      } catch (error) {
        log.debug({ err: error }, 'could not listen to the database again; retrying')
        if (channels.size > 0) reconnectSoon()
      }
    }, RETRY_MS)
  }

  function notify(channel: string, payload: string): void {
    for (const onHint of channels.get(channel) ?? []) {
      try {
        onHint(payload)
      } catch (error) {
        log.error({ err: error, channel }, 'a notification of another process could not be handled')
      }
    }
  }

  async function close(): Promise<void> {
    clearTimeout(retry)
    const ending = connection
    connection = undefined
    await ending?.then(goodbye).catch(ignored)
  }

  /** Ends the connection. A peer that has disappeared does not answer, so the wait is limited. */
  async function goodbye({ client }: Listening): Promise<void> {
    const timer = setTimeout(
      () => destroyConnection(client, new DatabaseUnresponsive('the database does not answer')),
      SECOND,
    )
    await client.end()
    clearTimeout(timer)
  }

  async function stop(channel: string, onHint: OnHint): Promise<void> {
    const of = channels.get(channel)
    of?.delete(onHint)
    if (of?.size === 0) channels.delete(channel)
    if (channels.size === 0) await close()
  }

  return {
    notify,
    /** Replaces the connection after the network was down, regardless of its state. */
    reconnect(): void {
      connection
        ?.then(({ client }) => destroyConnection(client, new DatabaseUnresponsive('the database does not answer')))
        .catch(ignored)
    },
    async listen(channel: string, onHint: OnHint): Promise<() => Promise<void>> {
      const of = channels.get(channel)
      if (of) of.add(onHint)
      else channels.set(channel, new Set([onHint]))
      try {
        const { query } = await connected()
        await query(listenStatement(channel))
      } catch (error) {
        await stop(channel, onHint)
        throw error
      }
      return () => stop(channel, onHint)
    },
    close: async (): Promise<void> => {
      channels.clear()
      await close()
    },
  }
}
