import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { listen } from './listen.ts'

const host = '127.0.0.1'

test('many connections at one port are served, over whichever door they come, until the server is closed', async () => {
  const app = fastify({ forceCloseConnections: 'idle' })
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

test('a port that another program has is not shared with it', async () => {
  const other = createServer().listen(0, host)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const app = fastify()
  await expect(listen(app, { host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await app.close()

  const first = fastify()
  const base = await listen(first, { host, port: 0 })
  const second = fastify()
  await expect(listen(second, { host, port: Number(new URL(base).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await Promise.all([first.close(), second.close()])
  other.close()
})
