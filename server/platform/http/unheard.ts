import type { Server } from 'node:http'
import type { Socket } from 'node:net'

// New connections that all ask in the same moment. A turn of the event loop reads whatever has come: with thousands of connections it
// took a third of a second, and everybody waited for its end. So a turn hears a bounded number of requests. The connections that have
// not been heard yet are then left unread, and heard a few in each turn; connections that were heard before do not wait for them.

/** In one turn of the loop; a refusal takes about 50 µs. */
const HEARD_IN_A_TURN = 64
const HEARD_AT_ONCE = 32

export type Unheard = {
  /** Of every request, before anything is done for it. */
  heard(socket: Socket): void
}

export function watchUnheard(server: Server): Unheard {
  const unheard = new Set<Socket>()
  const waiting: Socket[] = []
  let heardNow = 0

  server.on('connection', (socket: Socket) => {
    unheard.add(socket)
    socket.once('close', () => unheard.delete(socket))
  })
  server.on('upgrade', (_request, socket) => unheard.delete(socket as Socket))

  const beginTurn = (): void => {
    heardNow = 0
  }

  const leaveUnread = (): void => {
    const isWaiting = waiting.length > 0
    for (const socket of unheard) {
      unheard.delete(socket)
      socket.pause()
      waiting.push(socket)
    }
    if (!isWaiting && waiting.length > 0) setImmediate(hear)
  }

  const hear = (): void => {
    for (const socket of waiting.splice(0, HEARD_AT_ONCE)) socket.resume()
    if (waiting.length > 0) setImmediate(hear)
  }

  return {
    heard(socket) {
      unheard.delete(socket)
      if (heardNow === 0) setImmediate(beginTurn)
      heardNow += 1
      if (heardNow === HEARD_IN_A_TURN) leaveUnread()
    },
  }
}
