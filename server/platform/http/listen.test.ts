import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { expect, test } from 'vitest'
import { listen, prepareListeners, webAddressOf } from './listen.ts'

const host = '127.0.0.1'

function makeServer(): FastifyInstance {
  const app = fastify({ forceCloseConnections: 'idle' })
  prepareListeners(app)
  return app
}

test('all of many connections to one port are served, through any of the sockets, until the server is closed', async () => {
  const app = makeServer()
  app.get('/', () => 'here')
  const base = await listen(app, { host, port: 0 })
  const lines = Array.from({ length: 40 }, () => connect(Number(new URL(base).port), host))
  const answers = lines.map(async (line) => {
    line.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    const [bytes] = await once(line.setEncoding('utf8'), 'data')
    return (bytes as string).endsWith('here')
  })
  expect(await Promise.all(answers)).toEqual(Array(40).fill(true))
  await app.close()
  await expect(fetch(base)).rejects.toThrow()
})

test('a server that is closing accepts no connection, although it still answers open requests', async () => {
  const app = makeServer()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  app.get('/', async () => {
    ask()
    await answered
    return 'late'
  })
  const base = await listen(app, { host, port: 0 })
  const early = connect(Number(new URL(base).port), host).setEncoding('utf8')
  early.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await asked
  const closing = app.close()
  await new Promise(setImmediate)
  const tries = Array.from({ length: 40 }, () => once(connect(Number(new URL(base).port), host), 'connect'))
  const outcomes = await Promise.allSettled(tries)
  expect(outcomes.map(({ status }) => status)).toEqual(Array(40).fill('rejected'))
  answer()
  const [text] = await once(early, 'data')
  expect(text).toMatch(/late$/)
  await closing
})

test('a server is closed only when all requests through all sockets are answered', async () => {
  const app = makeServer()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let asked = 0
  app.get('/', async () => {
    asked += 1
    await answered
    return 'late'
  })
  const base = await listen(app, { host, port: 0 })
  const lines = Array.from({ length: 40 }, () => connect(Number(new URL(base).port), host).setEncoding('utf8'))
  for (const line of lines) line.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await expect.poll(() => asked).toBe(40)
  let closed = false
  const closing = app.close().then(() => {
    closed = true
  })
  // Some connections come through the first socket; when those are gone, the others must keep the server open.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  expect(closed).toBe(false)
  const texts = Promise.all(lines.map(async (line) => (await once(line, 'data'))[0] as string))
  answer()
  for (const text of await texts) expect(text).toMatch(/late$/)
  await closing
})

test('a port that another program uses is not shared with that program', async () => {
  const other = createServer().listen(0, host)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const app = makeServer()
  await expect(listen(app, { host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await app.close()

  const first = makeServer()
  const base = await listen(first, { host, port: 0 })
  const second = makeServer()
  await expect(listen(second, { host, port: Number(new URL(base).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await Promise.all([first.close(), second.close()])
  other.close()
})

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4100'],
  ['heddle.example', 'http://heddle.example:4100'],
  ['::1', 'http://[::1]:4100'],
])('the address of %s can be opened', (host, address) => {
  expect(webAddressOf(host, 4100)).toBe(address)
  expect(URL.canParse(address)).toBe(true)
})
