import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service on a free port that records its requests and answers as the test says. */
export type Vendor = {
  /** host:port */
  host: string
  url: string
  seen: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[]
  answer: (request: Vendor['seen'][number], response: ServerResponse) => void
  stop(): Promise<void>
}

export async function startVendor(): Promise<Vendor> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = '', url = '', headers } = request
    const seen = { method, path: url, headers, body: Buffer.concat(parts).toString() }
    vendor.seen.push(seen)
    vendor.answer(seen, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const vendor: Vendor = {
    host,
    url: `http://${host}`,
    seen: [],
    answer: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return vendor
}
