import pg from 'pg'
import type { Logger } from '../log.ts'

// One connection listens for everybody in the process: PostgreSQL wakes every connection that listens to anything, whatever
// a NOTIFY is about.

export type OnHint = (payload: string) => void

const RETRY_MS = 250

const ignored = (): void => {}

export function makeListener(options: { url: string; log: Logger; received(channel: string, payload: string): void }) {
  const { url, log, received } = options
  const channels = new Map<string, Set<OnHint>>()
  let connection: Promise<pg.Client> | undefined
  let retry: NodeJS.Timeout | undefined

  const heard = (channel: string): string => `listen ${pg.escapeIdentifier(channel)}`

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', ignored)
    client.on('notification', ({ channel, payload }) => received(channel, payload ?? ''))
    await client.connect()
    const mine = connection
    const lost = (): void => {
      if (connection !== mine) return
      connection = undefined
      if (channels.size > 0) reconnectSoon()
    }
    client.on('error', lost).on('end', lost)
    if (channels.size > 0) await client.query([...channels.keys()].map(heard).join(';'))
    return client
  }

  const connected = (): Promise<pg.Client> => {
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
        // Anything may have happened meanwhile.
        for (const channel of channels.keys()) tell(channel, '')
      } catch (error) {
        log.debug({ err: error }, 'listening again failed')
        if (channels.size > 0) reconnectSoon()
      }
    }, RETRY_MS)
  }

  function tell(channel: string, payload: string): void {
    for (const onHint of channels.get(channel) ?? []) {
      try {
        onHint(payload)
      } catch (error) {
        log.error({ err: error, channel }, 'a hint could not be taken')
      }
    }
  }

  async function close(): Promise<void> {
    clearTimeout(retry)
    const ending = connection
    connection = undefined
    await ending?.then((client) => client.end()).catch(ignored)
  }

  async function stop(channel: string, onHint: OnHint): Promise<void> {
    const of = channels.get(channel)
    of?.delete(onHint)
    if (of?.size === 0) channels.delete(channel)
    if (channels.size === 0) await close()
  }

  return {
    tell,
    async listen(channel: string, onHint: OnHint): Promise<() => Promise<void>> {
      const of = channels.get(channel)
      if (of) of.add(onHint)
      else channels.set(channel, new Set([onHint]))
      try {
        const client = await connected()
        await client.query(heard(channel))
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
