import { Socket } from 'node:net'

// Tracks all connections that any library opens in this process. Received bytes are counted, and no connection outlives
// its task.

const open = new Set<Socket>()
let received = 0

export function watchSockets(): void {
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    if (!open.has(this)) {
      open.add(this)
      this.once('close', () => {
        received += this.bytesRead
        open.delete(this)
      })
    }
    return (connect as (...given: unknown[]) => Socket).apply(this, args)
  } as typeof connect
}

const receivedNow = (): number => [...open].reduce((sum, { bytesRead }) => sum + bytesRead, received)

const LOOK_EVERY_MS = 50

/**
 * Calls `tooMuch` once when more than `maxBytes` were received after this call. Returns a function that stops watching.
 */
export function limitReceived(maxBytes: number, tooMuch: () => void): () => void {
  const before = receivedNow()
  const timer = setInterval(() => {
    if (receivedNow() - before <= maxBytes) return
    clearInterval(timer)
    tooMuch()
  }, LOOK_EVERY_MS)
  return () => clearInterval(timer)
}

export function destroySockets(): void {
  for (const socket of open) socket.on('error', () => {}).destroy()
}
