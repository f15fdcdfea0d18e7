import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { queueNewConnections } from './connection-queue.ts'

const endOfTurn = (): Promise<unknown> => new Promise(setImmediate)

type Connection = { remoteAddress: string; name: string; resume(): void; destroy(): void }

/**
 * `connect` opens connections within the current turn of the event loop. `served` and `read` list them in the order
 * in which the server gets and reads them.
 */
function makeServer() {
  const server = Object.assign(new EventEmitter(), { listening: true })
  const served: string[] = []
  const read: string[] = []
  const destroyed: string[] = []
  server.on('connection', ({ name }: Connection) => served.push(name))
  const queue = queueNewConnections(server as unknown as Server)
  const connect = (remoteAddress: string, ...names: string[]): void => {
    for (const name of names)
      server.emit('connection', {
        remoteAddress,
        name,
        resume: () => read.push(name),
        destroy: () => destroyed.push(name),
      })
  }
  return { connect, served, read, destroyed, queue, server }
}

test('a turn serves two connections; later turns the newest and the one that has waited longest', async () => {
  const { connect, served, read } = makeServer()
  connect('127.0.0.1', 'a', 'b', 'c', 'd', 'e', 'f')
  expect(served).toEqual(['a', 'b'])
  await endOfTurn()
  expect(served.slice(2)).toEqual(['f', 'c'])
  connect('127.0.0.1', 'g')
  expect(served.length).toBe(4)
  await endOfTurn()
  expect(served.slice(4)).toEqual(['g', 'd'])
  await endOfTurn()
  expect(served.slice(6)).toEqual(['e'])
  expect(read).toEqual(served)
  await endOfTurn()
  connect('127.0.0.1', 'later')
  expect(served.at(-1)).toBe('later')
})

test('a connection does not wait for the connections of another address', async () => {
  const { connect, served } = makeServer()
  connect('203.0.113.7', ...Array.from({ length: 100 }, (_, n) => `loud ${n}`))
  connect('198.51.100.1', 'quiet')
  await endOfTurn()
  expect(served.slice(2)).toContain('quiet')
})

test('all simultaneous connections are answered, and connections that are reset do not delay the others', async () => {
  const server = createServer((_request, response) => response.end('served'))
  queueNewConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const lines = Array.from({ length: 60 }, (_, n) => {
    const line = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
    line.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n', () => n % 3 === 0 && line.resetAndDestroy())
    return { line, stays: n % 3 !== 0 }
  })
  const staying = lines.filter(({ stays }) => stays)
  const answers = await Promise.all(staying.map(async ({ line }) => (await once(line, 'data'))[0] as string))
  expect(answers.every((text) => text.endsWith('served'))).toBe(true)
  for (const { line } of staying) line.destroy()
  await new Promise((resolve) => server.close(resolve))
})

describe('an address that is slowed down', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  const loud = { remoteAddress: '203.0.113.7' } as Socket
  const EVERY_MS = 8

  test('gets one new connection every few milliseconds, the newest and the oldest in turn', async () => {
    const { connect, queue, served } = makeServer()
    queue.slowDown(loud, 100)
    connect(loud.remoteAddress!, 'a', 'b', 'c', 'd')
    await endOfTurn()
    expect(served).toEqual([])
    for (const expected of [['d'], ['d', 'a'], ['d', 'a', 'c'], ['d', 'a', 'c', 'b']]) {
      vi.advanceTimersByTime(EVERY_MS - 1)
      await endOfTurn()
      expect(served).toEqual(expected.slice(0, -1))
      vi.advanceTimersByTime(1)
      expect(served).toEqual(expected)
      await endOfTurn()
    }
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not slow down other addresses', async () => {
    const { connect, queue, served } = makeServer()
    queue.slowDown(loud, 100)
    connect(loud.remoteAddress!, 'loud')
    connect('198.51.100.1', 'quiet')
    expect(served).toEqual(['quiet'])
  })

  test('is served as before after that time, as soon as none of its connections waits', async () => {
    const { connect, queue, served } = makeServer()
    queue.slowDown(loud, 100)
    vi.advanceTimersByTime(99)
    connect(loud.remoteAddress!, 'a', 'b')
    vi.advanceTimersByTime(2)
    connect(loud.remoteAddress!, 'c')
    expect(served).toEqual([])
    vi.advanceTimersByTime(3 * EVERY_MS)
    expect(served).toEqual(['c', 'a'])
    await endOfTurn()
    expect(served).toEqual(['c', 'a', 'b'])
    connect(loud.remoteAddress!, 'd')
    expect(served).toEqual(['c', 'a', 'b', 'd'])
  })

  test('keeps the connections that already wait, and more only up to a limit', async () => {
    const { connect, queue, served, destroyed } = makeServer()
    connect(loud.remoteAddress!, 'a', 'b', 'c')
    queue.slowDown(loud, 100)
    await endOfTurn()
    expect(served).toEqual(['a', 'b'])
    connect(loud.remoteAddress!, ...Array.from({ length: 4_096 }, (_, n) => `${n}`))
    expect(destroyed).toEqual(['4095'])
  })

  test('gets all of its connections when the server closes', async () => {
    const { connect, queue, served, server } = makeServer()
    queue.slowDown(loud, 100)
    connect(loud.remoteAddress!, 'a', 'b', 'c', 'd', 'e')
    Object.assign(server, { listening: false })
    vi.advanceTimersByTime(EVERY_MS)
    for (let turn = 0; turn < 3; turn++) await endOfTurn()
    expect([...served].sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
