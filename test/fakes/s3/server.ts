import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

// The part of S3 that blobs need: path-style buckets and signed requests only. Lists have pages of two items, to test
// paging.

/** `full` and `read-only` refuse writes, `slow` answers after seconds, `gone` breaks every connection. */
export type S3Trouble = 'full' | 'read-only' | 'slow' | 'gone'

const SLOW_MS = 5_000

export type FakeS3 = {
  url: string
  keys(): string[]
  failNext(count: number): void
  /** Sets a problem for all later requests; undefined ends it. */
  trouble(kind: S3Trouble | undefined): void
  stop(): Promise<void>
}

export async function startFakeS3(bucket: string, accessKeyId: string): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Buffer[]>()
  let failures = 0
  let trouble: S3Trouble | undefined
  const server: Server = createServer(async (request, response) => {
    if (trouble === 'gone') return void request.socket.destroy()
    if (trouble === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const url = new URL(request.url!, 'http://s3')
    const answer = (
      status: number,
      text = '',
      headers: Record<string, string> = { 'content-type': 'application/xml' },
    ): void => void response.writeHead(status, headers).end(text)
    const refuse = (status: number, code: string): void =>
      answer(status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`)
    if (failures > 0) {
      failures -= 1
      return refuse(503, 'SlowDown')
    }
    if (!request.headers.authorization?.startsWith(`AWS4-HMAC-SHA256 Credential=${accessKeyId}/`))
      return refuse(403, 'AccessDenied')
    if (request.method === 'PUT' && trouble === 'full') return refuse(507, 'InsufficientStorage')
    if (request.method === 'PUT' && trouble === 'read-only') return refuse(403, 'AccessDenied')
    const [, first, ...rest] = url.pathname.split('/')
    if (first !== bucket) return refuse(404, 'NoSuchBucket')
    const key = decodeURIComponent(rest.join('/'))
    const upload = url.searchParams.get('uploadId')
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      uploads.set(String(uploads.size + 1), [])
      return answer(
        200,
        `<InitiateMultipartUploadResult><UploadId>${uploads.size}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    if (upload !== null) {
      const parts = uploads.get(upload)
      if (!parts) return refuse(404, 'NoSuchUpload')
      if (request.method === 'PUT') {
        parts[Number(url.searchParams.get('partNumber')) - 1] = unchunked(
          body,
          String(request.headers['content-encoding'] ?? ''),
        )
        return answer(200, '', { etag: '"part"' })
      }
      if (request.method === 'POST') objects.set(key, Buffer.concat(parts))
      uploads.delete(upload)
      return answer(200, '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>')
    }
    if (request.method === 'PUT' && key !== '') {
      objects.set(key, unchunked(body, String(request.headers['content-encoding'] ?? '')))
      return answer(200, '', { etag: '"x"' })
    }
    if (request.method === 'GET' && key !== '') {
      const found = objects.get(key)
      if (!found) return refuse(404, 'NoSuchKey')
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range ?? '')) ?? []
      const part = from === undefined ? found : found.subarray(Number(from), Number(to) + 1)
      response.writeHead(from === undefined ? 200 : 206, { 'content-length': String(part.length) }).end(part)
      return
    }
    if (request.method === 'GET') {
      const prefix = url.searchParams.get('prefix') ?? ''
      const found = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort()
      const page = found.slice(0, 2)
      return answer(
        200,
        `<ListBucketResult><IsTruncated>${found.length > 2}</IsTruncated>${page.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('')}</ListBucketResult>`,
      )
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return answer(204)
    }
    if (request.method === 'POST' && url.searchParams.has('delete')) {
      for (const [, name] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) objects.delete(name!)
      return answer(200, '<DeleteResult/>')
    }
    refuse(405, 'MethodNotAllowed')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: () => [...objects.keys()].sort(),
    failNext: (count) => {
      failures = count
    },
    trouble: (kind) => {
      trouble = kind
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Joins a body that the client sent in signed chunks, each preceded by its length. */
function unchunked(body: Buffer, encoding: string): Buffer {
  if (!encoding.includes('aws-chunked')) return body
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (!size) break
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts)
}
