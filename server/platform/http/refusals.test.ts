import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'
import { callerAddress } from './throttle.ts'

// Invalid HTTP requests: the response has the same shape for every error.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

/** Returns the response of the service to these bytes. */
async function send(
  ...parts: string[]
): Promise<{ status: number; head: string; body: { code: string; status: number } }> {
  const { hostname, port } = new URL(service().base)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  let text = ''
  socket.on('data', (more: string) => {
    text += more
  })
  socket.on('error', () => {})
  for (const part of parts) socket.write(part)
  const until = new Promise<void>((resolve) => {
    socket.on('data', () => /\r\n\r\n.*\}$/s.test(text) && resolve())
  })
  await Promise.race([until, once(socket, 'close')])
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), head, body: JSON.parse(body) }
}

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${more}\r\n`

test.each([
  ['a request that is not HTTP', ['hello\r\n\r\n'], 400, 'malformed'],
  ['an invalid header', [get('/api/companies', 'a b: c\r\n')], 400, 'malformed'],
  [
    'a second Content-Length',
    [`POST /api/companies HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}`],
    400,
    'malformed',
  ],
  [
    'a header section that is too large',
    [get('/api/companies', `x: ${'y'.repeat(40_000)}\r\n`)],
    431,
    'headers_too_large',
  ],
  ['a request line that is too long', [get(`/api/${'y'.repeat(40_000)}`)], 431, 'headers_too_large'],
  ['a path segment that is too long', [get(`/api/companies/${'y'.repeat(3_000)}`)], 414, 'address_too_long'],
  ['an invalid percent escape', [get('/api/companies/%zz')], 400, 'malformed'],
  ['a percent escape that is not UTF-8', [get('/api/companies/%ff%fe')], 400, 'malformed'],
  ['an unknown path', [get('/api/nothing')], 404, 'route_not_found'],
])('%s is refused with a problem', async (_name, parts, status, code) => {
  const answer = await send(...parts)
  expect([answer.status, answer.body.status, answer.body.code]).toEqual([status, status, code])
  expect(answer.head).toMatch(/content-type: application\/problem\+json/i)
  expect(answer.head).toMatch(/x-request-id: \S+/i)
  expect(answer.head).toMatch(/x-content-type-options: nosniff/i)
})

test('an invalid chunk is refused, even in the middle of a body', async () => {
  const head = `POST /api/companies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.owner.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
  const answer = await send(`${head}5\r\n{"nam\r\n`, 'zz\r\n')
  expect([answer.status, answer.body.code]).toEqual([400, 'malformed'])
  expect((await world.owner.call('GET', '/auth/me')).status).toBe(200)
})

test('a closed connection has the caller address "gone"', () => {
  expect(callerAddress(undefined)).toBe('gone')
})

describe('a method that an address does not support', () => {
  test.each([
    ['PUT', '/api/companies', 'GET, HEAD, POST'],
    ['DELETE', '/auth/me', 'GET, HEAD'],
    ['GET', '/auth/sign-in', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['PUT', '/api/companies/anything', 'DELETE, GET, HEAD, PATCH'],
  ])('%s %s is 405 and lists the supported methods', async (method, path, allow) => {
    const answer = await world.owner.call(method, path)
    expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.get('allow')).toBe(allow)
  })
})

test('HEAD has the same response as GET, without the body', async () => {
  const path = `${service().base}/api/companies/${world.workspace.company.id}`
  const asked = async (method: string) => {
    const answer = await fetch(path, { method, headers: { authorization: `Bearer ${world.owner.key}` } })
    return { answer, bytes: (await answer.arrayBuffer()).byteLength }
  }
  const [get, head] = [await asked('GET'), await asked('HEAD')]
  expect([get.answer.status, head.answer.status, head.bytes]).toEqual([200, 200, 0])
  expect(head.answer.headers.get('content-length')).toBe(String(get.bytes))
  for (const name of ['etag', 'content-type'])
    expect([name, head.answer.headers.get(name)]).toEqual([name, get.answer.headers.get(name)])
})

test('If-None-Match accepts a list, weak tags and *', async () => {
  const path = `/api/companies/${world.workspace.company.id}`
  const asked = async (tags: string): Promise<number> =>
    (await world.owner.call('GET', path, { headers: { 'if-none-match': tags } })).status
  const etag = (await world.owner.call('GET', path)).headers.get('etag')!
  expect(await Promise.all([`"a", ${etag}`, `W/${etag}`, `"a",W/${etag} , "b"`, '*'].map(asked))).toEqual([
    304, 304, 304, 304,
  ])
  expect(await Promise.all(['"a"', 'W/"a"', etag.slice(1, -1), `x${etag}`].map(asked))).toEqual([200, 200, 200, 200])
})

test('the promised number of concurrent requests of one credential is answered', async () => {
  const answers = await Promise.all(Array.from({ length: 420 }, () => world.owner.call('GET', '/auth/me')))
  expect(answers.filter(({ status }) => status !== 200).map(({ status }) => status)).toEqual([])
})
