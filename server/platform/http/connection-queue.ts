import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { makeLru } from '#model/lru'
import { callerAddress } from './throttle.ts'

// A new connection and its first request cost several times as much as a request over an open connection, and a turn of
// the event loop accepts several connections (listen.ts). With sixteen per turn, a turn took 6 to 15 ms of CPU time. A
// neighbour's request needs four turns, and waited for all four. So accepting must be cheap: the HTTP server gets a
// connection, and reads from it, only when the connection leaves this queue. Addresses take turns. A turn serves the
// connection that has waited longest and the newest one: otherwise the probe of a load balancer would wait for seconds
// behind a thousand others.

const SERVED_PER_TURN = 2

/** The time between two connections of an address that is slowed down. */
const SLOW_EVERY_MS = 8
/** The maximum number of connections of such an address that wait. The others are closed. */
const MAX_HELD = 4096

export type ConnectionQueue = {
  /**
   * Serves new connections of the client's address slowly for a while, because its requests exceed their rate. Otherwise
   * a client could avoid the pause of a refused connection by opening another.
   */
  slowDown(socket: Socket, ms: number): void
}

/** Waiting connections by address. */
type Lines = Map<string, Socket[]>

function add(lines: Lines, address: string, socket: Socket): void {
  const line = lines.get(address)
  if (line) line.push(socket)
  else lines.set(address, [socket])
}

export function queueNewConnections(server: Server): ConnectionQueue {
  const waiting: Lines = new Map()
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  let served = 0
  let isTurnEnding = false
  let newestFirst = false
  /** The connections of slow addresses. */
  const held: Lines = new Map()
  const slowUntil = makeLru<number>(10_000)

  const serve = (socket: Socket): void => {
    served += 1
    for (const listener of listeners) listener.call(server, socket)
    socket.resume()
  }

  const takeFrom = (sockets: Socket[]): Socket => {
    newestFirst = !newestFirst
    return (newestFirst ? sockets.pop() : sockets.shift()) as Socket
  }

  const next = (): Socket => {
    const [address, sockets] = waiting.entries().next().value as [string, Socket[]]
    const socket = takeFrom(sockets)
    waiting.delete(address)
    if (sockets.length > 0) waiting.set(address, sockets)
    return socket
  }

  const endTurn = (): void => {
    isTurnEnding = false
    served = 0
    if (waiting.size === 0) return
    endTurnLater()
    while (waiting.size > 0 && served < SERVED_PER_TURN) serve(next())
  }

  const endTurnLater = (): void => {
    if (isTurnEnding) return
    isTurnEnding = true
    setImmediate(endTurn)
  }

  const arrive = (address: string, socket: Socket): void => {
    endTurnLater()
    if (served < SERVED_PER_TURN) serve(socket)
    else add(waiting, address, socket)
  }

  const releaseLater = (address: string): void => void setTimeout(release, SLOW_EVERY_MS, address).unref()

  const release = (address: string): void => {
    const sockets = held.get(address)!
    // A server that is closing ends the connections that it knows.
    do arrive(address, takeFrom(sockets))
    while (sockets.length > 0 && !server.listening)
    if (sockets.length > 0) releaseLater(address)
    else held.delete(address)
  }

  const hold = (address: string, socket: Socket): void => {
    const others = held.get(address)?.length ?? 0
    if (others === 0) releaseLater(address)
    if (others < MAX_HELD) add(held, address, socket)
    else socket.destroy()
  }

  const isSlow = (address: string): boolean => held.has(address) || (slowUntil.get(address) ?? 0) > performance.now()

  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    const address = callerAddress(socket.remoteAddress)
    if (isSlow(address)) hold(address, socket)
    else arrive(address, socket)
  })
  // Bytes that arrive earlier wait in the kernel.
  Object.assign(server, { pauseOnConnect: true })

  return {
    slowDown(socket, ms) {
      const address = callerAddress(socket.remoteAddress)
      slowUntil.set(address, performance.now() + ms)
      const sockets = waiting.get(address) ?? []
      waiting.delete(address)
      for (const waits of sockets) hold(address, waits)
    },
  }
}
