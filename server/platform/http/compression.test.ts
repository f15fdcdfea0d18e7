import { once } from 'node:events'
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeWorld, type World } from '#test/harness/world'
import { addCompression } from './compression.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Raw = { status: number; headers: IncomingHttpHeaders; bytes: Buffer }

const open = async (url: string, headers: Record<string, string>): Promise<IncomingMessage> => {
  const [response] = await once(get(url, { headers, agent: false }), 'response')
  return response as IncomingMessage
}

/** Returns the bytes as they were transferred. */
async function raw(url: string, headers: Record<string, string> = {}): Promise<Raw> {
  const response = await open(url, headers)
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return { status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(parts) }
}

const asOwner = (path: string, headers: Record<string, string> = {}): Promise<Raw> =>
  raw(service().base + path, { authorization: `Bearer ${world.owner.key}`, ...headers })

const codings: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
]

const metadata = { lines: Array.from({ length: 100 }, (_, n) => `line ${n}`) }

async function makeCompany(): Promise<string> {
  const { body } = await world.owner.call('POST', '/api/companies', { body: { name: 'Large', metadata } })
  return `/api/companies/${body.company_id}`
}

describe('a response of more than a kilobyte', () => {
  test.each(codings)('is sent as %s with the same content if the client accepts it', async (coding, decode) => {
    const path = await makeCompany()
    const plain = await asOwner(path)
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': String(plain.bytes.length) })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const smaller = await asOwner(path, { 'accept-encoding': coding })
    expect(smaller.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-encoding': coding })
    expect(smaller.headers['content-length']).toBe(String(smaller.bytes.length))
    expect(smaller.bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect(decode(smaller.bytes)).toEqual(plain.bytes)
  })

  test('has an ETag per coding, and If-None-Match and If-Match accept each of them', async () => {
    const path = await makeCompany()
    const tags: string[] = []
    for (const coding of ['identity', 'gzip', 'br']) {
      const { headers } = await asOwner(path, { 'accept-encoding': coding })
      tags.push(headers.etag!)
    }
    expect(new Set(tags).size).toBe(3)
    for (const tag of [...tags, `W/${tags[1]}`, `"other", ${tags[2]}`]) {
      const { status, headers, bytes } = await asOwner(path, { 'accept-encoding': 'gzip', 'if-none-match': tag })
      expect([status, bytes.length, headers.vary]).toEqual([304, 0, 'Accept-Encoding'])
      expect(tag).toContain(headers.etag)
    }
    const change = (tag: string) =>
      world.owner.call('PATCH', path, { body: { name: 'Changed' }, headers: { 'if-match': tag } })
    expect((await change(tags[1]!)).status).toBe(200)
    expect((await change(tags[1]!)).status).toBe(412)
  })

  test('is not compressed if it answers a POST, because it may contain a secret next to the sent text', async () => {
    const made = await world.owner.call('POST', '/api/companies', {
      body: { name: 'Large', metadata },
      headers: { 'accept-encoding': 'gzip, br' },
    })
    expect([made.status, made.text.length > 1024]).toEqual([201, true])
    expect([made.headers.get('content-encoding'), made.headers.get('vary')]).toEqual([null, null])
  })

  test.each(codings)('is compressed as %s while it streams', async (coding, decode) => {
    const records = Array.from({ length: 2000 }, (_, n) => ({ n, text: `record ${n}` }))
    const { body } = await world.owner.call('POST', '/api/datasets', { body: { name: 'Large', records } })
    for (const path of [`/api/datasets/${body.dataset_id}`, `/api/datasets/${body.dataset_id}/export?format=csv`]) {
      const plain = await asOwner(path)
      const smaller = await asOwner(path, { 'accept-encoding': coding })
      expect(smaller.headers['content-encoding']).toBe(coding)
      expect(smaller.bytes.length).toBeLessThan(plain.bytes.length / 2)
      expect(decode(smaller.bytes)).toEqual(plain.bytes)
    }
    const { headers } = await asOwner(`/api/datasets/${body.dataset_id}`, { 'accept-encoding': coding })
    const again = await asOwner(`/api/datasets/${body.dataset_id}`, { 'if-none-match': headers.etag! })
    expect(again.status).toBe(304)
  })
})

test('a response of less than a kilobyte is not compressed', async () => {
  const { headers } = await asOwner('/api/teams', { 'accept-encoding': 'gzip' })
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined])
})

test('no GET response, which may be compressed, contains a permanent secret', () => {
  const secret = /^(token|secret|ticket|visitor_token|claim_token|client_secret|recovery_codes)$/
  const holders = service().app.routes.flatMap(({ method, operation, answer }) => {
    const shape = (answer as { shape?: Record<string, unknown> } | undefined)?.shape ?? {}
    return method === 'GET' && Object.keys(shape).some((field) => secret.test(field)) ? [operation] : []
  })
  // The tokens of widgets are new for each request, so nothing can be guessed from one size to the next. Embed tokens
  // are part of public pages.
  expect(holders).toEqual(['getEmbedToken', 'getTemplateToken', 'getWidgetConfig', 'getWorkflowWidgetConfig'])
})

describe('documents', () => {
  test.each<readonly [string, number]>([
    ['/openapi.json', 0.1],
    // Three megabytes: more than a second for each coding.
    ...(isSlowRun ? [['/docs/js/scalar.js', 0.4] as const] : []),
    ['/widget/v1.js', 0.6],
  ])('%s is compressed, and is 304 for a client that has it', async (path, share) => {
    const url = service().base + path
    const plain = await raw(url)
    expect(plain.status).toBe(200)
    for (const [coding, decode] of codings) {
      const smaller = await raw(url, { 'accept-encoding': coding })
      expect(smaller.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' })
      expect(smaller.bytes.length).toBeLessThan(plain.bytes.length * share)
      expect(decode(smaller.bytes)).toEqual(plain.bytes)
      expect((await raw(url, { 'accept-encoding': coding })).bytes).toEqual(smaller.bytes)
      const again = await raw(url, { 'accept-encoding': coding, 'if-none-match': smaller.headers.etag! })
      expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, smaller.headers.etag])
    }
    expect((await raw(url, { 'if-none-match': plain.headers.etag! })).status).toBe(304)
    expect((await raw(url, { 'if-none-match': '"other"' })).status).toBe(200)
  })
})

test('the page of the reference is 304 for a client that has it', async () => {
  const url = `${service().base}/docs/`
  const { status, headers } = await raw(url)
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect((await raw(url, { 'if-none-match': headers.etag! })).status).toBe(304)
  const { headers: moved } = await raw(`${service().base}/docs`)
  expect(moved.location).toBe('/docs/')
})

describe('compression', () => {
  const text = 'a line of text, '.repeat(200)
  let app: FastifyInstance
  let base: string
  let pieces: PassThrough
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  beforeAll(async () => {
    app = fastify()
    addCompression(app)
    const types = { '/events': 'text/event-stream', '/sound': 'audio/mpeg', '/bytes': 'application/octet-stream' }
    for (const [path, type] of Object.entries(types)) app.get(path, (_request, reply) => reply.type(type).send(text))
    app.get('/part', (_request, reply) => reply.code(206).type('text/plain').send(text))
    app.get('/own', (_request, reply) => reply.type('text/plain').header('content-encoding', 'deflate').send(text))
    app.get('/kept', (_request, reply) => reply.type('text/plain').header('cache-control', 'no-transform').send(text))
    app.get('/text', (_request, reply) => reply.type('text/plain').header('vary', 'Origin').send(text))
    app.get('/pieces', (_request, reply) => reply.type('text/plain').send(pieces))
    app.get('/broken', (_request, reply) =>
      reply.type('text/plain').send(
        Readable.from(
          (async function* () {
            yield text
            await released
            throw new Error('the source is gone')
          })(),
        ),
      ),
    )
    app.get('/gone', (_request, reply) =>
      reply.type('text/plain').send(
        new Readable({
          read() {
            this.destroy(new Error('the source is gone'))
          },
        }),
      ),
    )
    base = await app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => app.close())
  const wanted = { 'accept-encoding': 'gzip' }

  test.each(['/events', '/sound', '/bytes', '/part', '/own', '/kept'])('leaves %s unchanged', async (path) => {
    const { bytes, headers } = await raw(base + path, wanted)
    expect(bytes.toString()).toBe(text)
    expect(headers['content-encoding']).not.toBe('gzip')
  })

  test('keeps other names in Vary', async () => {
    expect((await raw(`${base}/text`, wanted)).headers.vary).toBe('Origin, Accept-Encoding')
  })

  test('does not apply to HEAD', async () => {
    const { headers, status } = await fetch(`${base}/text`, { method: 'HEAD', headers: wanted })
    expect([status, headers.get('content-encoding')]).toEqual([200, null])
  })

  test('lets the client read each piece of a stream before the end is written', async () => {
    pieces = new PassThrough()
    const asking = open(`${base}/pieces`, wanted)
    pieces.write('first')
    const reading = (await asking).pipe(createGunzip())
    const [first] = await once(reading, 'data')
    expect(String(first)).toBe('first')
    pieces.end('second')
    const [second] = await once(reading, 'data')
    expect(String(second)).toBe('second')
  })

  test('closes the source when the client disconnects', async () => {
    pieces = new PassThrough()
    pieces.write('first')
    const response = await open(`${base}/pieces`, wanted)
    await once(response, 'data')
    pieces.on('error', () => {})
    const closed = new Promise((resolve) => pieces.on('close', resolve))
    response.destroy()
    await closed
    expect(pieces.destroyed).toBe(true)
  })

  test('cuts the response off, and never completes it, if the source fails', async () => {
    const response = await open(`${base}/broken`, wanted)
    release()
    await expect(response.toArray()).rejects.toThrow('aborted')
  })

  test('sends an ordinary error if the source fails before anything was sent', async () => {
    const { status, headers, bytes } = await raw(`${base}/gone`, wanted)
    expect([status, headers['content-encoding']]).toEqual([500, undefined])
    expect(JSON.parse(bytes.toString()).message).toBe('the source is gone')
  })
})
