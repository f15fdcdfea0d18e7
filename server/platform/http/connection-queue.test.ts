import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { queueNewConnections } from './connection-queue.ts'

const endOfTurn = (): Promise<unknown> => new Promise(setImmediate)

type Connection = { remoteAddress: string; name: string; resume(): void }

/**
 * `connect` opens connections within the current turn of the event loop. `served` and `read` list them in the order
 * in which the server gets and reads them.
 */
function makeServer() {
  const server = new EventEmitter()
  const served: string[] = []
  const read: string[] = []
  server.on('connection', ({ name }: Connection) => served.push(name))
  queueNewConnections(server as Server)
  const connect = (remoteAddress: string, ...names: string[]): void => {
    for (const name of names) server.emit('connection', { remoteAddress, name, resume: () => read.push(name) })
  }
  return { connect, served, read }
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
