import type { Socket } from 'node:net'
import { SECOND } from '../clock.ts'

// Connections that are not read for a while. Connections that are due at the same moment are resumed in small groups:
// each has its next request waiting, and all of them at once would delay other requests.

/** A thousand per second: twice the number of clients that are told to retry within one second (retry-after.ts). */
const RESUMED_AT_ONCE = 4
const RESUME_EVERY_MS = 4

export type Pauses = {
  /** Stops reading from the connection. The kernel keeps the bytes that arrive in the meantime, so nothing is lost. */
  pause(socket: Socket, seconds: number): void
}

export function makePauses(): Pauses {
  const due: Socket[] = []

  const resumeSome = (): void => {
    for (const socket of due.splice(0, RESUMED_AT_ONCE)) socket.resume()
    if (due.length > 0) setTimeout(resumeSome, RESUME_EVERY_MS).unref()
  }

  return {
    pause(socket, seconds) {
      socket.pause()
      setTimeout(() => {
        due.push(socket)
        if (due.length === 1) setTimeout(resumeSome, RESUME_EVERY_MS).unref()
      }, seconds * SECOND).unref()
    },
  }
}
