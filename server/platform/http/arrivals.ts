import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { SECOND } from '../clock.ts'
import { refuseMalformed } from './malformed.ts'

// Bodies that are kept in memory while they arrive. A client could send nearly all of many bodies and then wait: 800
// connections without a credential took 800 MB. So a body must arrive within a time that depends on its size, and if
// all of them together take too much memory, slow ones are refused, first those of the caller with the most.

const CHECK_EVERY = SECOND
/** The time that every body has, and the average rate afterwards. */
const GRACE_MS = 60 * SECOND
const MIN_BYTES_PER_MS = 8
const MAX_TOGETHER = 128 << 20
/** What a body takes in any case: its connection, and bytes that came together with the headers. */
const BASE_BYTES = 32 << 10
/** A body that arrives within this time is not refused for its memory. */
const QUICK_MS = SECOND

type Arrival = { request: IncomingMessage; caller: string; since: number; before: number }

export type Arrivals = {
  /** Watches the body of a request until it has arrived. */
  watch(request: IncomingMessage, caller: string): void
}

const tooSlow = (): Error =>
  Object.assign(new Error('the body arrived too slowly'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

export function makeArrivals({
  now = () => performance.now(),
  maxTogether = MAX_TOGETHER,
  every = CHECK_EVERY,
}: {
  now?: () => number
  maxTogether?: number
  every?: number
} = {}): Arrivals {
  const arriving = new Map<IncomingMessage, Arrival>()
  let timer: NodeJS.Timeout | undefined

  const heldBy = ({ request, before }: Arrival): number => BASE_BYTES + request.socket.bytesRead - before

  const refuse = ({ request }: Arrival): void => {
    arriving.delete(request)
    refuseMalformed(tooSlow(), request.socket)
  }

  function check(): void {
    const at = now()
    const byCaller = new Map<string, { bytes: number; slow: { arrival: Arrival; bytes: number }[] }>()
    let together = 0
    for (const arrival of arriving.values()) {
      if (arrival.request.complete) continue
      const bytes = heldBy(arrival)
      const age = at - arrival.since
      if (age > GRACE_MS + bytes / MIN_BYTES_PER_MS) {
        refuse(arrival)
        continue
      }
      together += bytes
      const of = byCaller.get(arrival.caller) ?? { bytes: 0, slow: [] }
      of.bytes += bytes
      if (age > QUICK_MS) of.slow.push({ arrival, bytes })
      byCaller.set(arrival.caller, of)
    }
    for (const { slow } of [...byCaller.values()].sort((a, b) => b.bytes - a.bytes))
      for (const { arrival, bytes } of slow) {
        if (together <= maxTogether) return
        together -= bytes
        refuse(arrival)
      }
  }

  const tick = (): void => {
    check()
    if (arriving.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    watch(request, caller) {
      // A request that the program sends to itself has no connection.
      if (!(request.socket instanceof Socket)) return
      arriving.set(request, { request, caller, since: now(), before: request.socket.bytesRead })
      // Emitted when the body has been read, and when the connection is closed.
      request.once('close', () => arriving.delete(request))
      timer ??= setInterval(tick, every).unref()
    },
  }
}

/** One for the process, because its memory is shared. */
export const arrivals = makeArrivals()
