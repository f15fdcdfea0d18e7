import type { Server } from 'node:http'
import type { Socket } from 'node:net'

// Handles thousands of new connections that send a request at the same moment. A turn of the event loop reads
// everything that has arrived: with 8,000 connections, one turn served 7,000 requests and took 0.7 s of CPU time, and
// all other requests waited for its end. So the number of requests per turn is limited. When it is reached, connections
// without a request so far are paused, and each further turn resumes some of them. Connections that have sent a request
// before do not wait for them.

/** A refusal takes about 50 µs. */
const REQUESTS_PER_TURN = 32
const RESUMED_PER_TURN = 24
/** A client that sends its request within this time is not paused, because a turn accepts only a few connections. */
const NEW_FOR_MS = 50

export type NewConnections = {
  /** Must be called for each request before anything else is done for it. */
  requested(socket: Socket): void
}

export function limitNewConnections(server: Server): NewConnections {
  /** Connections that are being read and have sent no request so far. */
  const silent = new Set<Socket>()
  const paused: Socket[] = []
  const requestedBefore = new WeakSet<Socket>()
  let requests = 0

  const watch = (socket: Socket): void => {
    if (socket.destroyed || requestedBefore.has(socket)) return
    silent.add(socket)
  }
  const forget = (socket: Socket): void => {
    requestedBefore.add(socket)
    silent.delete(socket)
  }
  server.on('connection', (socket: Socket) => {
    setTimeout(watch, NEW_FOR_MS, socket).unref()
    socket.once('close', () => silent.delete(socket))
  })
  server.on('upgrade', (_request, socket) => forget(socket as Socket))

  const beginTurn = (): void => {
    requests = 0
  }

  const pauseSilent = (): void => {
    if (paused.length === 0 && silent.size > 0) setImmediate(resumeSome)
    for (const socket of silent) {
      socket.pause()
      paused.push(socket)
    }
    silent.clear()
  }

  const resumeSome = (): void => {
    for (const socket of paused.splice(0, RESUMED_PER_TURN)) {
      socket.resume()
      watch(socket)
    }
    if (paused.length > 0) setImmediate(resumeSome)
  }

  return {
    requested(socket) {
      forget(socket)
      if (requests === 0) setImmediate(beginTurn)
      requests += 1
      if (requests === REQUESTS_PER_TURN) pauseSilent()
    },
  }
}
