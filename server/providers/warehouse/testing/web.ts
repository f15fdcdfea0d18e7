import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export type RecordedRequest = { method: string; url: URL; headers: IncomingMessage['headers']; body: Buffer }
export type StandIn = { port: number; asked: RecordedRequest[]; close(): Promise<void> }
export type RequestHandler = (asked: RecordedRequest, response: ServerResponse) => void

/** A small server that records its requests, for stand-ins of vendors with an HTTP interface. */
export async function serve(answer: RequestHandler, tls?: { key: string; cert: string }): Promise<StandIn> {
  const asked: RecordedRequest[] = []
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one = {
      method: request.method ?? '',
      url: new URL(request.url ?? '/', 'http://stand-in'),
      headers: request.headers,
      body: Buffer.concat(parts),
    }
    asked.push(one)
    answer(one, response)
  }
  const server = tls
    ? createSecureServer(tls, (a, b) => void onRequest(a, b))
    : createServer((a, b) => void onRequest(a, b))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The rows that every stand-in returns for a statement that names `numbers`. */
export const numbers = Array.from({ length: 2_500 }, (_, n) => ({ n: n + 1, name: `number ${n + 1}` }))
