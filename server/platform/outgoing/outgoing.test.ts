import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isPublicAddress } from './address.ts'
import type { OutgoingCredential } from './credential.ts'
import { OutgoingFailure } from './failure.ts'
import { makeHeldResponses } from './held.ts'
import { makeMask } from './mask.ts'
import { makeOutgoing, type Outgoing, type OutgoingRequest } from './outgoing.ts'

let canary: SocketServer
let canaryPort: number
let connections = 0
let server: Server
let port: number
let outgoing: Outgoing
let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []

type Handler = (request: IncomingMessage, response: ServerResponse) => void
const handlers: Record<string, Handler> = {
  '/ok': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'x-a': ['1', '2'] }).end('fine'),
  '/gzip': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
  '/br': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('packed')),
  '/deflate': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('packed')),
  '/bomb': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024))),
  '/nonsense': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
  '/odd': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end('x'),
  '/endless': (_request, response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024)
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write)
    write()
  },
  '/slow': (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  },
  '/silent': () => {},
  '/stalled': (_request, response) => void response.writeHead(200).write(Buffer.alloc(600_000)),
  '/large': (_request, response) => response.writeHead(200).end(Buffer.alloc(900_000)),
  '/unauthorized': (_request, response) => response.writeHead(401).end(),
  '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
}

beforeAll(async () => {
  canary = createSocketServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((done) => canary.listen(0, '::', done))
  canaryPort = (canary.address() as AddressInfo).port
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://x')
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      if (url.pathname === '/to') {
        response
          .writeHead(Number(url.searchParams.get('status') ?? 302), { location: url.searchParams.get('url') ?? '' })
          .end('moved')
      } else (handlers[url.pathname] ?? handlers['/ok'])?.(request, response)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  outgoing = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`, `localhost:${port}`] })
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  await new Promise((done) => canary.close(done))
})
beforeEach(() => {
  seen = []
  connections = 0
})

const at = (path: string) => `http://127.0.0.1:${port}${path}`
const failureOf = async (request: OutgoingRequest, client = outgoing): Promise<OutgoingFailure> => {
  const error = await client.request({ timeoutMs: 60_000, ...request }).then(
    (answer) => expect.fail(`answered ${answer.status}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OutgoingFailure)
  return error as OutgoingFailure
}

describe('a request', () => {
  it('is sent and returns the response', async () => {
    const answer = await outgoing.request({
      method: 'post',
      url: at('/ok?a=1'),
      headers: { 'X-Key': 'k' },
      body: 'hello',
    })
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain', 'x-a': '1, 2' } })
    expect(answer.body.toString()).toBe('fine')
    expect(seen).toMatchObject([
      { method: 'POST', url: '/ok?a=1', body: 'hello', headers: { 'x-key': 'k', 'content-length': '5' } },
    ])
  })

  it.each(['/gzip', '/br', '/deflate'])('unpacks %s', async (path) => {
    expect((await outgoing.request({ url: at(path) })).body.toString()).toBe('packed')
  })

  it('fails when the response is too large, even only after decompression', async () => {
    expect((await failureOf({ url: at('/endless'), maxBytes: 1_000_000 })).code).toBe('response_too_large')
    expect((await failureOf({ url: at('/bomb'), maxBytes: 1_000_000 })).code).toBe('response_too_large')
    expect((await failureOf({ url: at('/nonsense') })).code).toBe('response_unreadable')
    expect((await failureOf({ url: at('/odd') })).code).toBe('response_unreadable')
  })

  it('fails when the response takes too long, even if bytes keep arriving', async () => {
    expect(await failureOf({ url: at('/silent'), timeoutMs: 200 })).toMatchObject({ code: 'timeout', retryable: true })
    expect((await failureOf({ url: at('/slow'), timeoutMs: 300 })).code).toBe('timeout')
  })

  it('does not wait for requests to the same target that get no response', async () => {
    const cancel = new AbortController()
    const silent = Array.from({ length: 100 }, () =>
      outgoing.request({ url: at('/silent'), signal: cancel.signal }).catch(() => 'ended'),
    )
    expect((await outgoing.request({ url: at('/ok') })).status).toBe(200)
    cancel.abort()
    await Promise.all(silent)
  })

  it('gives up the slowest response if all together take too much memory', async () => {
    const held = makeHeldResponses({ maxTogether: 1 << 20, quickMs: 0 })
    const narrow = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`], held })
    const stalled = failureOf({ url: at('/stalled'), timeoutMs: 60_000 }, narrow)
    await expect.poll(() => held.bytes()).toBe(600_000)
    expect((await narrow.request({ url: at('/large') })).body).toHaveLength(900_000)
    expect(await stalled).toMatchObject({ code: 'timeout', retryable: true })
    expect(held.bytes()).toBe(0)
    await narrow.close()
  })

  it('stops when the caller aborts', async () => {
    const cancel = new AbortController()
    const call = outgoing.request({ url: at('/silent'), signal: cancel.signal })
    setTimeout(() => cancel.abort(new Error('cancelled')), 20)
    await expect(call).rejects.toThrow('cancelled')
  })

  it.each<[string, Partial<OutgoingRequest>]>([
    ['a line break in a header', { headers: { 'x-a': 'a\r\nHost: internal' } }],
    ['a lone line feed in a header', { headers: { 'x-a': 'a\nb' } }],
    ['a NUL in a header', { headers: { 'x-a': 'a\0b' } }],
    ['a line break in a header name', { headers: { 'x-a\r\nx-b': '1' } }],
    ['its own Host header', { headers: { Host: 'internal' } }],
    ['its own Content-Length header', { headers: { 'Content-Length': '3' } }],
    ['its own Transfer-Encoding header', { headers: { 'transfer-encoding': 'chunked' } }],
    ['an Upgrade header', { headers: { upgrade: 'h2c' } }],
    ['the method CONNECT', { method: 'CONNECT' }],
    ['a line break in the method', { method: 'GET / HTTP/1.1\r\nX: ' }],
  ])('with %s is refused', async (_name, wrong) => {
    expect((await failureOf({ url: at('/ok'), ...wrong })).code).toBe('request_invalid')
    expect(seen).toEqual([])
  })

  it.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'ftp://example.org/',
    'data:text/plain,x',
    'javascript:1',
    'no address',
    '',
  ])('to %j is refused', async (url) => {
    expect((await failureOf({ url })).code).toBe('request_invalid')
  })
})

describe('a connection that the target closes before it responds', () => {
  let cuts = 0
  beforeAll(() => {
    const cut =
      (close: (socket: Socket) => void): Handler =>
      (request, response) => {
        cuts -= 1
        if (cuts < 0) handlers['/ok']!(request, response)
        else close(request.socket)
      }
    handlers['/cut'] = cut((socket) => socket.destroy())
    handlers['/reset'] = cut((socket) => socket.resetAndDestroy())
  })

  /** Sends a request whose responses are cut this many times, with a client of its own. */
  async function sendCut(times: number, request: Partial<OutgoingRequest>, isUsed: boolean): Promise<unknown> {
    cuts = times
    const own = makeOutgoing({ allowTargets: [`127.0.0.1:${port}`] })
    if (isUsed) await own.request({ url: at('/ok') })
    // The connection is free for the next request only in the next turn.
    await nextTurn()
    seen = []
    const url = at('/cut')
    const outcome = await own.request({ url, ...request }).then(
      ({ status }) => status,
      ({ code }: OutgoingFailure) => code,
    )
    await own.close()
    // An aborted request of an earlier test may arrive late.
    seen = seen.filter((one) => at(one.url) === (request.url ?? url))
    return outcome
  }

  it.each([
    ['GET', {}, 1, 200, 2],
    ['HEAD', {}, 1, 200, 2],
    ['OPTIONS', {}, 1, 200, 2],
    ['POST', { 'Idempotency-Key': 'k' }, 1, 200, 2],
    ['DELETE', { 'Idempotency-Key': 'k' }, 1, 200, 2],
    ['POST', {}, 1, 'connection_failed', 1],
    ['PUT', {}, 1, 'connection_failed', 1],
    ['PATCH', {}, 1, 'connection_failed', 1],
    ['DELETE', {}, 1, 'connection_failed', 1],
    ['GET', {}, 2, 'connection_failed', 2],
  ])('%s with %j that is cut %s times: %s after %s requests', async (method, headers, times, outcome, requests) => {
    const body = method === 'POST' ? 'hello' : null
    expect([await sendCut(times, { method, headers, body }, true), seen.length]).toEqual([outcome, requests])
    expect(new Set(seen.map((request) => request.body)).size).toBe(1)
  })

  it.each(['/cut', '/reset'])('is replaced once if it was used before, and not if it was new: %s', async (path) => {
    expect([await sendCut(1, { url: at(path) }, true), seen.length]).toEqual([200, 2])
    expect([await sendCut(1, { url: at(path) }, false), seen.length]).toEqual(['connection_failed', 1])
  })
})

describe('redirects', () => {
  const to = (url: string, status = 302) => at(`/to?status=${status}&url=${encodeURIComponent(url)}`)

  /** Filters by path, because an aborted request of an earlier test may arrive late. */
  const arrived = (path: string) => seen.filter(({ url }) => url === path)

  it('are followed, and change the method as browsers do', async () => {
    await outgoing.request({
      method: 'POST',
      url: to('/see-other', 303),
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expect(arrived('/see-other')).toMatchObject([{ method: 'GET', body: '' }])
    expect(arrived('/see-other')[0]?.headers['content-type']).toBeUndefined()
    await outgoing.request({ method: 'POST', url: to('/temporary', 307), body: 'x' })
    expect(arrived('/temporary')).toMatchObject([{ method: 'POST', body: 'x' }])
  })

  it('keep credentials on the same origin and drop every key on another origin', async () => {
    const headers = { authorization: 'Bearer s', cookie: 'a=1', 'x-api-key': 's', accept: 'text/html' }
    await outgoing.request({ url: to('/same'), headers })
    expect(arrived('/same')).toMatchObject([{ headers }])
    await outgoing.request({ url: to(`http://localhost:${port}/elsewhere`), headers })
    const [elsewhere] = arrived('/elsewhere')
    expect(elsewhere?.headers).toMatchObject({ accept: 'text/html' })
    for (const name of ['authorization', 'cookie', 'x-api-key']) expect(elsewhere?.headers[name]).toBeUndefined()
  })

  it('carry no credential after another origin was involved, even back on the first origin', async () => {
    const renew = vi.fn(async () => undefined)
    const credential: OutgoingCredential = {
      name: 'Shop',
      allows: () => true,
      apply: (hop) => ({ ...hop, headers: { ...hop.headers, 'x-key': 'secret' } }),
      mask: makeMask(['secret']),
      renew,
    }
    const back = `http://localhost:${port}/to?status=302&url=${encodeURIComponent(at('/unauthorized'))}`
    await outgoing.request({ url: to(back), credential })
    expect(seen.map(({ headers }) => headers['x-key'])).toEqual(['secret', undefined, undefined])
    expect(arrived('/unauthorized')).toHaveLength(1)
    // The response to a request without the credential does not show that the credential is outdated.
    expect(renew).not.toHaveBeenCalled()
  })

  it('fail after five hops', async () => {
    expect((await failureOf({ url: at('/loop') })).code).toBe('too_many_redirects')
    expect(arrived('/loop')).toHaveLength(6)
  })

  it.each([301, 302, 303, 307, 308])('with %i to a private address are refused', async (status) => {
    for (const url of [
      `http://127.0.0.1:${canaryPort}/`,
      `http://[::1]:${canaryPort}/`,
      `http://0x7f000001:${canaryPort}/`,
    ]) {
      expect((await failureOf({ url: to(url, status) })).code).toBe('target_refused')
    }
    for (const url of ['file:///etc/passwd', 'gopher://127.0.0.1/', 'http://u:p@127.0.0.1/']) {
      expect((await failureOf({ url: to(url, status) })).code).toBe('request_invalid')
    }
    expect(connections).toBe(0)
  })
})

describe('private addresses', () => {
  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[5f00::1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '198.18.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    'localhost',
    'LOCALHOST',
  ]

  it.each(spellings)('%s is never connected', async (host) => {
    const strict = makeOutgoing({ allowTargets: [] })
    expect((await failureOf({ url: `http://${host}:${canaryPort}/`, timeoutMs: 2_000 }, strict)).code).toBe(
      'target_refused',
    )
    expect(connections).toBe(0)
  })

  it('a name with a trailing dot is never connected', async () => {
    const strict = makeOutgoing({ allowTargets: [] })
    const { code } = await failureOf({ url: `http://localhost.:${canaryPort}/` }, strict)
    expect(['target_refused', 'target_unresolved']).toContain(code)
    expect(connections).toBe(0)
  })

  it('refuses addresses with user info, and exemptions for another port or spelling', async () => {
    expect((await failureOf({ url: `http://example.org@127.0.0.1:${canaryPort}/` })).code).toBe('request_invalid')
    expect((await failureOf({ url: `http://127.0.0.1:${canaryPort}/` })).code).toBe('target_refused')
    expect((await failureOf({ url: `http://[::1]:${port}/` })).code).toBe('target_refused')
    expect(connections).toBe(0)
  })

  const answering = (...answers: string[][]) => {
    let calls = 0
    const client = makeOutgoing({
      allowTargets: [],
      resolve: (_host, callback) => {
        const addresses = answers[Math.min(calls, answers.length - 1)] ?? []
        calls += 1
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      },
    })
    return { client, calls: () => calls }
  }
  const url = () => `http://rebind.example:${canaryPort}/`

  it('a name that resolves to a private address is refused', async () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '169.254.169.254']) {
      expect((await failureOf({ url: url() }, answering([address]).client)).code).toBe('target_refused')
    }
    expect(connections).toBe(0)
  })

  it('a name with one private address among public ones is refused', async () => {
    expect((await failureOf({ url: url() }, answering(['93.184.216.34', '127.0.0.1']).client)).code).toBe(
      'target_refused',
    )
    expect((await failureOf({ url: url() }, answering(['2606:4700::1', '::1']).client)).code).toBe('target_refused')
    expect(connections).toBe(0)
  })

  it('a name that resolves differently the second time gains nothing, because the checked address is the connected one', async () => {
    const { client, calls } = answering(['93.184.216.34'], ['127.0.0.1'])
    const { code } = await failureOf({ url: url(), timeoutMs: 300 }, client)
    expect(['timeout', 'connection_failed']).toContain(code)
    expect(calls()).toBe(1)
    expect(connections).toBe(0)
    const drivers = answering(['127.0.0.1'])
    await expect(drivers.client.resolveTarget('db.example', 5432)).rejects.toMatchObject({ code: 'target_refused' })
    await expect(drivers.client.resolveTarget('127.0.0.1', 5432)).rejects.toMatchObject({ code: 'target_refused' })
    expect(await answering(['93.184.216.34']).client.resolveTarget('db.example', 5432)).toEqual([
      { address: '93.184.216.34', family: 4 },
    ])
  })

  it('names that do not exist fail with target_unresolved', async () => {
    const client = makeOutgoing({
      allowTargets: [],
      resolve: (_host, callback) => callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []),
    })
    expect(await failureOf({ url: 'http://nowhere.invalid/' }, client)).toMatchObject({
      code: 'target_unresolved',
      retryable: true,
    })
  })

  it('public addresses are recognised as public', () => {
    for (const address of ['8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e']) {
      expect(isPublicAddress(address)).toBe(true)
    }
    expect(isPublicAddress('fe80::1%eth0')).toBe(false)
    expect(isPublicAddress('example.org')).toBe(false)
  })
})

describe('fetch', () => {
  it('works for libraries, with the same restrictions', async () => {
    const answer = await outgoing.fetch(at('/gzip'), {
      method: 'POST',
      body: JSON.stringify({ a: 1 }),
      headers: { 'x-k': '1' },
    })
    expect([answer.status, await answer.text(), answer.url]).toEqual([200, 'packed', at('/gzip')])
    expect(seen[0]).toMatchObject({ method: 'POST', body: '{"a":1}' })
    await expect(outgoing.fetch(`http://127.0.0.1:${canaryPort}/`)).rejects.toMatchObject({ code: 'target_refused' })
    await expect(
      outgoing.fetch(at(`/to?url=${encodeURIComponent(`http://[::1]:${canaryPort}/`)}`)),
    ).rejects.toMatchObject({ code: 'target_refused' })
    await expect(outgoing.fetch(at('/bomb')).then((bomb) => bomb.arrayBuffer())).rejects.toThrow()
    expect(connections).toBe(0)
  })
})
