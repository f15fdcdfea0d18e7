import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limitNewConnections } from './new-connections.ts'

const MANY = 600

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a turn of the event loop serves some of many new connections; known connections do not wait, and all are answered', async () => {
  const server = createServer()
  const { requested } = limitNewConnections(server)
  const order: string[] = []
  let now = 0
  let most = 0
  server.on('request', (request, response) => {
    requested(request.socket)
    order.push(request.url!)
    if (now === 0)
      setImmediate(() => {
        now = 0
      })
    now += 1
    most = Math.max(most, now)
    response.end('served')
  })
  let accepted = 0
  const all = Promise.withResolvers<void>()
  server.on('connection', () => {
    accepted += 1
    if (accepted === MANY + 1) all.resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const open = (): Socket => connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  const ask = async (line: Socket, path: string): Promise<string> => {
    line.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    return ((await once(line, 'data')) as [string])[0]
  }

  const kept = open()
  await ask(kept, '/')
  const lines = Array.from({ length: MANY }, open)
  await Promise.all([all.promise, ...lines.map((line) => once(line, 'connect'))])
  // After this time none of the connections counts as new.
  vi.advanceTimersByTime(50)
  order.length = 0
  most = 0
  const answers = await Promise.all([...lines.map((line) => ask(line, '/new')), ask(kept, '/kept')])
  expect(answers.filter((text) => text.endsWith('served')).length).toBe(MANY + 1)
  expect(most).toBeLessThanOrEqual(MANY / 2)
  expect(order.indexOf('/kept')).toBeLessThan(MANY)
  for (const line of [kept, ...lines]) line.destroy()
  server.close()
})
