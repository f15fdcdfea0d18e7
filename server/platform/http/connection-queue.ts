import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { callerAddress } from './throttle.ts'

// A new connection and its first request cost several times as much as a request over an open connection, and a turn of
// the event loop accepts several connections (listen.ts). With sixteen per turn, a turn took 6 to 15 ms of CPU time. A
// neighbour's request needs four turns, and waited for all four. So accepting must be cheap: the HTTP server gets a
// connection, and reads from it, only when the connection leaves this queue. Addresses take turns. A turn serves the
// connection that has waited longest and the newest one: otherwise the probe of a load balancer would wait for seconds
// behind a thousand others.

const SERVED_PER_TURN = 2

export function queueNewConnections(server: Server): void {
  const waiting = new Map<string, Socket[]>()
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  let served = 0
  let isTurnEnding = false
  let newestFirst = false

  const serve = (socket: Socket): void => {
    served += 1
    for (const listener of listeners) listener.call(server, socket)
    socket.resume()
  }

  const next = (): Socket => {
    const [address, sockets] = waiting.entries().next().value as [string, Socket[]]
    newestFirst = !newestFirst
    const socket = (newestFirst ? sockets.pop() : sockets.shift()) as Socket
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

  const wait = (socket: Socket): void => {
    const address = callerAddress(socket.remoteAddress)
    const sockets = waiting.get(address)
    if (sockets) sockets.push(socket)
    else waiting.set(address, [socket])
  }

  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    endTurnLater()
    if (served < SERVED_PER_TURN) serve(socket)
    else wait(socket)
  })
  // Bytes that arrive earlier wait in the kernel.
  Object.assign(server, { pauseOnConnect: true })
}
