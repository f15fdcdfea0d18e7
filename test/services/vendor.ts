import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Files } from '#engine/files'
import { unavailable } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { makeOutgoing, type Outgoing } from '#platform/outgoing/outgoing'

// A vendor on this machine: it records its requests and answers as the test says.

export type Received = {
  method: string
  origin: string
  path: string
  query: [string, string][]
  headers: IncomingHttpHeaders
  body: Buffer
}
export type Told = { status: number; headers: Record<string, string>; body: Json | Buffer }

export async function startVendor() {
  const received: Received[] = []
  const told: Told[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { 'x-test-origin': origin, ...headers } = request.headers
    const url = new URL(request.url ?? '/', String(origin))
    received.push({
      method: request.method ?? '',
      origin: url.origin,
      path: url.pathname,
      query: [...url.searchParams].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1)),
      headers,
      body: Buffer.concat(chunks),
    })
    const answer = told.shift() ?? { status: 599, headers: {}, body: 'nothing was told' }
    const isText = typeof answer.body === 'string' || Buffer.isBuffer(answer.body)
    const type = isText ? 'text/plain' : 'application/json'
    response.writeHead(answer.status, { 'content-type': type, ...answer.headers })
    response.end(isText ? (answer.body as string | Buffer) : JSON.stringify(answer.body))
  })
  // If the server closed a connection while the next request was on its way, that request would fail.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const local = `http://127.0.0.1:${port}`
  const real = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })

  /** Sends requests for the vendor to this machine; the credential still checks the vendor's own address. */
  const outgoing: Pick<Outgoing, 'request'> = {
    request({ url, headers, credential, ...rest }) {
      const meant = new URL(url)
      return real.request({
        ...rest,
        url: local + meant.pathname + meant.search,
        headers: { ...headers, 'x-test-origin': meant.origin },
        ...(credential && { credential: { ...credential, allows: () => credential.allows(meant) } }),
      })
    },
  }
  return {
    outgoing,
    received,
    /** Sets the answers to the next requests, and discards unused answers. */
    answer: (...answers: Told[]): void => void told.splice(0, told.length, ...answers),
    async close(): Promise<void> {
      await real.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const FILE = {
  $file: {
    file_id: 'file_01kf3v6h2he3wtpk1fw5c0wz9d',
    name: 'notes.txt',
    media_type: 'text/plain',
    bytes: 5,
    sha256: 'x',
  },
}

/** Files with one file, `notes.txt` with the text "hello", which also record all saved files. */
export function makeTestFiles(): Files & { saved: { name: string; media_type: string; bytes: Buffer }[] } {
  const saved: { name: string; media_type: string; bytes: Buffer }[] = []
  return {
    saved,
    maxBytes: 1_000_000,
    async open(_run, value) {
      const facts = (value as JsonObject | undefined)?.$file as JsonObject | undefined
      if (facts?.file_id !== FILE.$file.file_id) throw unavailable()
      return {
        ...FILE.$file,
        async *chunks() {
          yield Buffer.from('hello')
        },
      }
    },
    async save(_run, { name, media_type }, chunks) {
      const parts: Buffer[] = []
      for await (const chunk of chunks) parts.push(chunk)
      const bytes = Buffer.concat(parts)
      saved.push({ name, media_type, bytes })
      return { $file: { file_id: 'file_saved', name, media_type, bytes: bytes.length, sha256: '' } }
    },
  }
}
