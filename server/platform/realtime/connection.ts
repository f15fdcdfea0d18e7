import { WebSocket } from 'ws'
import type { TicketHolder } from './tickets.ts'

// One open socket. The journal is in the database, so nothing is queued for a client that does not keep up: its feed is
// not read until it has received what was sent.

export type Connection = {
  readonly socket: WebSocket
  readonly holder: TicketHolder
  readonly bucket: number
  /** The sequence number of the last frame sent. */
  cursor: number
  /** The client has answered the last ping. */
  alive: boolean
  /**
   * The time since when the client has not received what was sent, by the monotonic clock. Null if the client keeps up.
   */
  fullSince: number | null
}

export const closings = {
  stopping: [1001, 'the service is stopping'],
  refused: [1008, 'after must be a whole number'],
  later: [1013, 'try again in a moment'],
  bad_ticket: [4401, 'the ticket is wrong, used, expired, or for another socket'],
  withdrawn: [4403, 'access was withdrawn'],
  gone: [4404, 'it does not exist'],
  slow: [4408, 'the client read frames too slowly'],
} as const satisfies Record<string, readonly [code: number, reason: string]>
export type Closing = keyof typeof closings

export function closeSocket(socket: WebSocket, closing: Closing): void {
  const [code, reason] = closings[closing]
  socket.close(code, reason)
}

export type Message = { seq: number; text: string }

/**
 * Sends until the buffer contains more than `most` bytes, so at most that and one frame. The cursor is the position
 * reached. The rest is read again when the buffer is half empty, which `onDrained` reports.
 */
export function sendMessages(
  connection: Connection,
  messages: readonly Message[],
  most: number,
  onDrained: (connection: Connection) => void,
): void {
  const { socket } = connection
  for (const { seq, text } of messages) {
    if (socket.readyState !== WebSocket.OPEN) return
    socket.send(text, () => {
      if (connection.fullSince === null || socket.bufferedAmount > most / 2) return
      connection.fullSince = null
      onDrained(connection)
    })
    connection.cursor = seq
    if (socket.bufferedAmount > most) {
      connection.fullSince = performance.now()
      return
    }
  }
}
