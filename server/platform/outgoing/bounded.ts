// Limits the responses of services that the operator chose. Their addresses may be private, but no response may fill
// the memory or keep a socket open. Requests to addresses that tenants choose go through outgoing.ts, which has the
// same kind of limits.

import { type Readable, Transform } from 'node:stream'
import { OutgoingFailure } from './failure.ts'

export type Bounds = {
  /** The maximum size of the body, after decompression. */
  maxBytes: number
  /** The timeout for the whole exchange, up to the last byte of the body. */
  timeoutMs: number
}

const tooLarge = (maxBytes: number): OutgoingFailure =>
  new OutgoingFailure('response_too_large', `the answer is larger than ${maxBytes} bytes`)
const tooLate = (): OutgoingFailure => new OutgoingFailure('timeout', 'the target did not answer in time')

/**
 * Returns a `fetch` with limited responses: beyond the limit of bytes or time, the connection is destroyed and the body
 * fails. Redirects are not followed, so that a key reaches no other host. The HTTP client itself limits headers (16
 * KiB).
 */
export function makeBoundedFetch({ maxBytes, timeoutMs }: Bounds): typeof globalThis.fetch {
  return async (input, init) => {
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(tooLate()), timeoutMs).unref()
    const signals = [init?.signal, input instanceof Request ? input.signal : undefined]
    const signal = AbortSignal.any([stop.signal, ...signals.filter((one) => one !== null && one !== undefined)])
    try {
      const response = await globalThis.fetch(input, { ...init, redirect: 'error', signal })
      if (response.body === null) {
        clearTimeout(timer)
        return response
      }
      let bytes = 0
      const counted = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            bytes += chunk.byteLength
            if (bytes <= maxBytes) {
              controller.enqueue(chunk)
              return
            }
            clearTimeout(timer)
            controller.error(tooLarge(maxBytes))
            // A caller that stops reading would leave the connection open.
            stop.abort(tooLarge(maxBytes))
          },
          flush: () => clearTimeout(timer),
        }),
      )
      const { status, statusText, headers } = response
      return new Response(counted, { status, statusText, headers })
    } catch (error) {
      clearTimeout(timer)
      if (stop.signal.aborted) throw stop.signal.reason
      throw error
    }
  }
}

/**
 * Limits a stream in the same way. Destroys the source when it sends too much, takes too long, or is no longer read.
 */
export function boundStream(source: Readable, { maxBytes, timeoutMs }: Bounds): Readable {
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(tooLarge(maxBytes))
      else done(null, chunk)
    },
  })
  const timer = setTimeout(() => counted.destroy(tooLate()), timeoutMs).unref()
  source.on('error', (error) => counted.destroy(error))
  counted.on('close', () => {
    clearTimeout(timer)
    source.destroy()
  })
  return source.pipe(counted)
}
