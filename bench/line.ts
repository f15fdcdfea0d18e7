import { once } from 'node:events'
import { connect } from 'node:net'

/** One open connection. Requests are written as they stand: what a client spends on making a request is not the service's. */
export function openLine(
  base: string,
  key: string,
): { post(path: string, body: unknown): Promise<number>; close(): void } {
  const { hostname, port, host } = new URL(base)
  const line = connect(Number(port), hostname)
  return {
    /** When the first byte left, on the monotonic clock. */
    async post(path, body) {
      const text = JSON.stringify(body)
      const request = Buffer.from(
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      )
      const sentAt = performance.now()
      line.write(request)
      const [answer] = (await once(line, 'data')) as [Buffer]
      if (!/^HTTP\/1.1 202 /.test(answer.toString('latin1'))) throw new Error(answer.toString())
      return sentAt
    },
    close: () => line.destroy(),
  }
}
