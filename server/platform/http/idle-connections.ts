import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes idle connections only after the event loop has read from all connections. A request may already have arrived on
 * one of them, for example during a long turn. Node would close it unread, and the client would get a reset.
 */
export function readBeforeClosing(server: Server): void {
  server.on('timeout', (socket: Socket) => {
    const { bytesRead } = socket
    afterReading(() => {
      if (socket.bytesRead === bytesRead) socket.destroy()
    })
  })
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => afterReading(closeIdle)
}

/** The event loop reads before it runs the second of two nested immediates, but not always before the first. */
const afterReading = (work: () => void): void => void setImmediate(setImmediate, work)
