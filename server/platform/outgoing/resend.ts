import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Hop } from './hops.ts'

// A target closes an idle connection after a while, perhaps at the moment when a request is sent over it. After a long
// turn of the event loop, all open connections may be closed already without being known to be. The request then fails
// although the target is well.

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Checks whether the target has agreed to get the request twice: it only reads, or the target recognises its key. */
const mayRepeat = ({ method, headers }: Hop): boolean => READING.has(method) || headers['idempotency-key'] !== undefined

const isBroken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(error.code))

/** Sends the request, and once more if the connection breaks before the response starts and the request may be repeated. */
export async function withOneResend<T>(hop: Hop, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!isBroken(error) || !mayRepeat(hop)) throw error
  }
  // The event loop notices all closed connections before it runs the second of two immediates.
  await nextTurn()
  await nextTurn()
  return send()
}
