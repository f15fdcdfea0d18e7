import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { useService } from '#test/harness/service'

const service = useService()

const open = (): Socket => connect(Number(new URL(service().base).port), '127.0.0.1').setEncoding('utf8')
const ask = (line: Socket): void => void line.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')

test('a request that arrives while its connection times out is answered; an idle connection is closed', async () => {
  const { server } = service().app.http
  const { keepAliveTimeout, keepAliveTimeoutBuffer } = server
  Object.assign(server, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 0 })
  const line = open()
  ask(line)
  await once(line, 'data')
  ask(line)
  // Blocks the event loop beyond the time after which an idle connection is closed.
  const end = performance.now() + 60
  while (performance.now() < end);
  const [text] = await once(line, 'data')
  expect(text).toMatch(/^HTTP\/1.1 200/)
  await once(line, 'end')
  Object.assign(server, { keepAliveTimeout, keepAliveTimeoutBuffer })
})

test('a request that arrives while idle connections are closed is answered; the others are closed', async () => {
  const [idle, asking] = [open(), open()]
  for (const line of [idle, asking]) {
    ask(line)
    await once(line, 'data')
  }
  ask(asking)
  service().app.http.server.closeIdleConnections()
  const [text] = await once(asking, 'data')
  expect(text).toMatch(/^HTTP\/1.1 200/)
  await once(idle, 'end')
  asking.destroy()
})
