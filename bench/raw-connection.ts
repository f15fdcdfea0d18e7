import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Opens one connection. Requests are written as raw bytes, so that the time a client needs to build a request is not
 * counted.
 */
export function openRawConnection(
  base: string,
  key: string,
): { post(path: string, body: unknown): Promise<number>; close(): void } {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  return {
    /** Returns the time at which the first byte was sent, on the monotonic clock. */
    async post(path, body) {
      const text = JSON.stringify(body)
      const request = Buffer.from(
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      )
      const sentAt = performance.now()
      socket.write(request)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      if (!/^HTTP\/1.1 202 /.test(answer.toString('latin1'))) throw new Error(answer.toString())
      return sentAt
    },
    close: () => socket.destroy(),
  }
}
