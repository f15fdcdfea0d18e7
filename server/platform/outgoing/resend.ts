import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Hop } from './hops.ts'

// A target closes an idle connection after a while, perhaps at the moment when a request is sent over it. After a long
// turn of the event loop, all open connections may be closed already without being known to be. The request then fails
// although the target is well.

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Checks whether the target may get the request twice: the request only reads, or its key identifies it. */
const mayRepeat = ({ method, headers }: Hop): boolean => READING.has(method) || headers['idempotency-key'] !== undefined

/** The errors of connections over which the target had responded before. */
const errorsOfUsed = new WeakSet<Error>()

/** Must be called for each new connection before anything is sent over it. */
export const watchConnection = (socket: Socket): void =>
  void socket.once('error', (error) => {
    if (socket.bytesRead > 0) errorsOfUsed.add(error)
  })

/** The library adds the state of the connection to its own errors. */
const wasUsed = (error: unknown): boolean =>
  error instanceof Error &&
  (errorsOfUsed.has(error) || ('socket' in error && Number((error.socket as Partial<Socket> | null)?.bytesRead) > 0))

const isBroken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(error.code))

/** Sends the request, and once more if a connection that was used before breaks and the request may be repeated. */
export async function withOneResend<T>(hop: Hop, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!isBroken(error) || !wasUsed(error) || !mayRepeat(hop)) throw error
  }
  // The event loop notices all closed connections before it runs the second of two immediates.
  await nextTurn()
  await nextTurn()
  return send()
}
