import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { SECOND } from '../clock.ts'
import type { Database } from '../db/pool.ts'
import { fromWire } from '../ids.ts'
import type { Logger } from '../log.ts'
import { type Channel, makeChannel, toMessage } from './channel.ts'
import { type Closing, type Connection, closeSocket } from './connection.ts'
import { type Feed, type FeedKind, gap } from './feed.ts'
import { makeHints } from './hints.ts'
import { areStillValid, redeemTicket, type TicketHolder } from './tickets.ts'
import { readUpgrade, refuseUpgrade } from './upgrade.ts'
import { makeWheel, type Timing } from './wheel.ts'

// Sockets on the service's own HTTP server. feed.ts describes how an area adds a feed.

const PROTOCOL = 'heddle.v1'

const defaults: Timing = {
  // With 10,000 sockets and a tick of half a second, the checks and pings of a tick delayed frames by 30 ms.
  tick: 0.1 * SECOND,
  pingEvery: 20 * SECOND,
  // Sockets must close within 5 s after access was withdrawn, even if the hint was lost.
  checkEvery: 2.5 * SECOND,
  pollEvery: 10 * SECOND,
  slowAfter: 10 * SECOND,
}

const MAX_PONGS_BYTES = 16 * 1024

/** Answers a ping unless the buffer is full: a client that pings and does not read would fill the memory. */
function answerPing(this: WebSocket, data: Buffer): void {
  if (this.bufferedAmount < MAX_PONGS_BYTES) this.pong(data)
}

export type RealtimeOptions = {
  db: Database
  log: Logger
  server: Server
  /** The address of the service for its users. Pages of this host, and of the host of the request, may open sockets. */
  baseUrl?(): string
  timing?: Partial<Timing>
  /** The maximum number of buffered bytes for a client that does not read. */
  mostBuffered?: number
  mostPerPerson?: number
  /**
   * The maximum number of sockets being opened at once, over all callers, because each queries the database. Other
   * clients must retry.
   */
  mostOpening?: number
}

export type Realtime = ReturnType<typeof makeRealtime>

/** Returns the reason to close each holder's socket, or undefined if it may stay open. */
async function judge(
  db: Database,
  channels: ReadonlyMap<FeedKind, Channel>,
  holders: readonly TicketHolder[],
): Promise<(Closing | undefined)[]> {
  if (holders.length === 0) return []
  const closings: (Closing | undefined)[] = (await areStillValid(db, holders)).map((holds) =>
    holds ? undefined : 'withdrawn',
  )
  for (const [kind, { feed }] of channels) {
    const asked = holders.flatMap((holder, at) => (holder.kind === kind && !closings[at] ? [at] : []))
    if (asked.length === 0) continue
    const verdicts = await feed.authorise(asked.map((at) => holders[at]!))
    for (const [nth, at] of asked.entries()) {
      const verdict = verdicts[nth] ?? 'withdrawn'
      if (verdict !== 'allowed') closings[at] = verdict
    }
  }
  return closings
}

/** Closes the sockets and waits for that, at most a second. */
async function sayGoodbye(sockets: WebSocket[]): Promise<void> {
  const closed = sockets.map((socket) => {
    const done = new Promise<void>((resolve) => {
      socket.once('close', () => resolve())
      if (socket.readyState === WebSocket.CLOSED) resolve()
    })
    closeSocket(socket, 'stopping')
    return done
  })
  let late: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    late = setTimeout(resolve, SECOND)
  })
  await Promise.race([Promise.all(closed), enough])
  clearTimeout(late)
  for (const socket of sockets) socket.terminate()
}

export function makeRealtime(options: RealtimeOptions) {
  const { db, log, server, mostBuffered = 256 * 1024, mostPerPerson = 100, mostOpening = 1000 } = options
  const channels = new Map<FeedKind, Channel>()
  const byPerson = new Map<string, Set<Connection>>()
  const opening = new Set<WebSocket>()
  let stopping = false

  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // Clients have nothing to send, so larger messages are not even read into memory.
    maxPayload: 4096,
    autoPong: false,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  })
  const hints = makeHints(db, channels, (userId) => {
    const of = userId === '' ? [...byPerson.values()].flatMap((all) => [...all]) : [...(byPerson.get(userId) ?? [])]
    void check(of)
  })
  const channelOf = (holder: TicketHolder): Channel => channels.get(holder.kind)!
  const wheel = makeWheel({
    timing: { ...defaults, ...options.timing },
    onSlow: (connection) => drop(connection, 'slow'),
    check: (connections) => void check(connections),
    poll: (connection) => channelOf(connection.holder).wake(connection.holder.resource),
  })

  async function check(connections: readonly Connection[]): Promise<void> {
    try {
      const closings = await judge(
        db,
        channels,
        connections.map(({ holder }) => holder),
      )
      for (const [at, connection] of connections.entries()) if (closings[at]) drop(connection, closings[at])
    } catch (error) {
      // While the database is unavailable, no access can change either. The next check tries again.
      log.debug({ err: error }, 'access to open sockets could not be checked')
    }
  }

  function drop(connection: Connection, closing: Closing): void {
    remove(connection)
    closeSocket(connection.socket, closing)
  }

  function remove(connection: Connection): void {
    channelOf(connection.holder).remove(connection)
    wheel.remove(connection)
    const of = byPerson.get(connection.holder.user_id)
    of?.delete(connection)
    if (of?.size === 0) byPerson.delete(connection.holder.user_id)
  }

  function add(socket: WebSocket, holder: TicketHolder, cursor: number): void {
    const connection: Connection = { socket, holder, cursor, bucket: wheel.bucket(), alive: true, fullSince: null }
    socket.on('pong', () => {
      connection.alive = true
    })
    socket.once('close', () => remove(connection))
    const of = byPerson.get(holder.user_id)
    if (of) of.add(connection)
    else byPerson.set(holder.user_id, new Set([connection]))
    wheel.add(connection)
    channelOf(holder).add(connection)
  }

  const hasEnough = ({ user_id }: TicketHolder): boolean => (byPerson.get(user_id)?.size ?? 0) >= mostPerPerson

  /** Returns the reason to close the socket, or undefined if it is now open. */
  async function admit(socket: WebSocket, request: IncomingMessage): Promise<Closing | undefined> {
    const asked = readUpgrade(request, channels, options.baseUrl?.())
    if (asked === 'gone' || asked === 'refused' || asked === 'bad_ticket') return asked
    const { kind, channel, id, ticket, after } = asked
    const holder = await redeemTicket(db, ticket)
    const { prefix, snapshot, read } = channel.feed
    const named = prefix === undefined ? holder?.resource : fromWire(prefix, id ?? '')
    if (!holder || holder.kind !== kind || holder.resource !== named) return 'bad_ticket'
    const [closing] = await judge(db, channels, [holder])
    if (closing) return closing
    if (hasEnough(holder)) return 'later'
    await hints.ensureListening()
    let cursor = after
    // There is no entry at the position: it belongs to a journal that no longer exists, and later entries could have
    // any number.
    const unknown =
      after !== undefined && after > 0 && (await read([{ ...holder, after: after - 1 }], 1))[0]!.length === 0
    if (cursor === undefined || unknown) {
      const state = await snapshot(holder)
      if (!state) return 'gone'
      cursor = state.seq
      const first = unknown ? gap(1, state.seq) : { seq: state.seq, type: 'snapshot', at: new Date(), data: state.data }
      socket.send(toMessage(first).text)
    }
    if (stopping) return 'stopping'
    // Other sockets of the same person may have been opened in the meantime.
    if (hasEnough(holder)) return 'later'
    if (socket.readyState === WebSocket.OPEN) add(socket, holder, cursor)
    return undefined
  }

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    stream.on('error', () => {})
    const isBusy = stopping || opening.size >= mostOpening
    if (isBusy || !request.url?.startsWith('/ws/')) {
      refuseUpgrade(stream, isBusy ? '503 Service Unavailable' : '404 Not Found')
      return
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', () => {})
      socket.on('ping', answerPing)
      opening.add(socket)
      admit(socket, request)
        .catch((error: unknown): Closing => {
          log.debug({ err: error }, 'a socket could not be opened')
          return 'later'
        })
        .then((closing) => {
          opening.delete(socket)
          if (closing) closeSocket(socket, closing)
        })
    })
  }
  server.on('upgrade', onUpgrade)

  return {
    /** Must be called before the first socket opens. */
    addFeed(kind: FeedKind, feed: Feed): void {
      channels.set(kind, makeChannel({ feed, log, mostBuffered }))
    },
    /** Returns the number of open sockets. */
    open: (): number => wheel.size(),
    /** Closes every socket and waits for that, at most a second. */
    async stop(): Promise<void> {
      stopping = true
      wheel.stop()
      for (const channel of channels.values()) channel.stop()
      const all = [...opening, ...[...byPerson.values()].flatMap((of) => [...of].map(({ socket }) => socket))]
      await sayGoodbye(all)
      await hints.stop()
      server.off('upgrade', onUpgrade)
    },
  }
}
