import { type AddressInfo, createServer, isIPv6, type ListenOptions, type Server, type Socket } from 'node:net'
import { platform } from 'node:process'
import type { FastifyInstance } from 'fastify'

// Node accepts one connection per turn of its event loop. Under a flood a turn is long, and a new client (another
// tenant, the probe of a load balancer) waited for seconds. So one port has several listening sockets ("listeners"), among
// which the kernel distributes new connections: each turn accepts one connection per listener.

const LISTENERS = 8
/**
 * The maximum number of connections that wait to be accepted. Beyond Node's default of 511 the kernel would drop
 * connections, and the client would retry after a second.
 */
const MAX_UNACCEPTED = 4096

declare module 'fastify' {
  interface FastifyInstance {
    /** All listeners except the first. */
    extraListeners: Server[]
  }
}

/** Must run before the server is used: hooks for closing cannot be added later. */
export function prepareListeners(app: FastifyInstance): void {
  const extraListeners: Server[] = []
  let closed: Promise<unknown>[] = []
  app.decorate('extraListeners', extraListeners)
  app.addHook('preClose', async () => {
    closed = extraListeners.map((listener) => new Promise((resolve) => listener.close(resolve)))
  })
  // The server itself knows only the connections of the first listener. Code that waits for it to close must wait for all
  // listeners.
  app.addHook('onClose', async () => {
    await Promise.all(closed)
  })
}

const opened = (listener: Server, at: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(at, () => {
      listener.off('error', reject)
      resolve()
    })
  })

/**
 * Listeners share their port with any program that asks to share it. This check still reports that another program uses the
 * port.
 */
export async function refuseTakenPort(at: ListenOptions): Promise<void> {
  const probe = createServer()
  await opened(probe, at)
  await new Promise((resolve) => probe.close(resolve))
}

/** Returns the address for browsers. An IPv6 address needs brackets. */
export const webAddressOf = (host: string, port: number | string): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

const makeExtraListener = (app: FastifyInstance): Server =>
  createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: pausesOnConnect(app.server) }, (socket: Socket) =>
    app.server.emit('connection', socket),
  )

/** Checks whether the server reads from a connection only after the connection is taken from the queue (connection-queue.ts). */
const pausesOnConnect = (server: Server & { pauseOnConnect?: boolean }): boolean => server.pauseOnConnect ?? false

/** Accepts connections from sockets that another process has bound. */
export async function listenAtShared(app: FastifyInstance, [first, ...others]: Server[]): Promise<void> {
  await app.ready()
  await opened(app.server, first as ListenOptions)
  for (const handle of others) {
    const listener = makeExtraListener(app)
    await opened(listener, handle as ListenOptions)
    app.extraListeners.push(listener)
  }
}

export async function listen(app: FastifyInstance, at: { host: string; port: number }): Promise<string> {
  const hasExtraListeners = platform === 'linux'
  if (hasExtraListeners && at.port !== 0) await refuseTakenPort(at)
  const shared = { backlog: MAX_UNACCEPTED, reusePort: hasExtraListeners }
  const address = await app.listen({ ...at, ...shared })
  if (!hasExtraListeners) return address
  for (const { address: host, port } of app.addresses() as AddressInfo[])
    for (let n = 1; n < LISTENERS; n++) {
      const listener = makeExtraListener(app)
      await opened(listener, { host, port, ...shared })
      app.extraListeners.push(listener)
    }
  return address
}
