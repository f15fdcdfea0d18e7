import type { Socket } from 'node:net'
import { SECOND } from '../clock.ts'

// Connections that are not read from for a while. Those whose time is over at the same moment are heard again by and by: each has
// its next request waiting, and all of them at once would hold everybody up.

/** A thousand a second: twice as many as are told to come back in one second (patience.ts). */
const HEARD_AT_ONCE = 4
const HEARD_EVERY_MS = 4

export type Rests = {
  /** What is sent meanwhile waits in the kernel; nothing is lost. */
  rest(socket: Socket, seconds: number): void
}

export function makeRests(): Rests {
  const over: Socket[] = []

  const hear = (): void => {
    for (const socket of over.splice(0, HEARD_AT_ONCE)) socket.resume()
    if (over.length > 0) setTimeout(hear, HEARD_EVERY_MS).unref()
  }

  return {
    rest(socket, seconds) {
      socket.pause()
      setTimeout(() => {
        over.push(socket)
        if (over.length === 1) setTimeout(hear, HEARD_EVERY_MS).unref()
      }, seconds * SECOND).unref()
    },
  }
}
