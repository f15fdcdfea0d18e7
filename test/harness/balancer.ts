import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

// A load balancer as operators use one: it checks whether each server is ready, sends requests only to ready servers,
// keeps its connections, and never repeats a request.

export type Balancer = {
  base: string
  use(server: string): void
  ready(): string[]
  stop(): Promise<void>
}

const ASK_EVERY = 50

export async function startBalancer(): Promise<Balancer> {
  const servers = new Map<string, boolean>()
  const agent = new Agent({ keepAlive: true })
  let next = 0
  const isReady = (base: string): Promise<boolean> =>
    fetch(`${base}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  const ask = async (): Promise<void> => {
    for (const base of servers.keys()) servers.set(base, await isReady(base))
  }
  const asking = setInterval(() => void ask(), ASK_EVERY)
  const ready = (): string[] => [...servers].filter(([, is]) => is).map(([base]) => base)

  const proxy = createServer((incoming, outgoing) => {
    const among = ready()
    next += 1
    const to = new URL(incoming.url ?? '/', among[next % among.length] ?? 'http://127.0.0.1:1')
    const { connection: _connection, ...headers } = incoming.headers
    const passed = request(to, { method: incoming.method, headers, agent }, (answer) => {
      const { connection: _own, ...rest } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, rest)
      answer.pipe(outgoing)
    })
    passed.on('error', (error) => outgoing.writeHead(502).end(String(error)))
    incoming.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    base: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    use: (server) => servers.set(server, false),
    ready,
    stop: async () => {
      clearInterval(asking)
      agent.destroy()
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
