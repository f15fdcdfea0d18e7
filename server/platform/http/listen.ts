import { type AddressInfo, createServer, isIPv6, type ListenOptions, type Server, type Socket } from 'node:net'
import { platform } from 'node:process'
import type { FastifyInstance } from 'fastify'

// Node accepts one connection per turn of its event loop. Under a flood a turn is long, and a new client (another
// tenant, the probe of a load balancer) waited for seconds. So one port has several listening sockets ("doors"), among
// which the kernel distributes new connections: each turn accepts one connection per door.

const DOORS = 8
/**
 * The maximum number of connections that wait to be accepted. Beyond Node's default of 511 the kernel would drop
 * connections, and the client would retry after a second.
 */
const MAX_UNACCEPTED = 4096

declare module 'fastify' {
  interface FastifyInstance {
    /** All doors except the first. */
    doors: Server[]
  }
}

/** Must run before the server is used: hooks for closing cannot be added later. */
export function prepareDoors(app: FastifyInstance): void {
  const doors: Server[] = []
  let closed: Promise<unknown>[] = []
  app.decorate('doors', doors)
  app.addHook('preClose', async () => {
    closed = doors.map((door) => new Promise((resolve) => door.close(resolve)))
  })
  // The server itself knows only the connections of the first door. Code that waits for it to close must wait for all
  // doors.
  app.addHook('onClose', async () => {
    await Promise.all(closed)
  })
}

const opened = (door: Server, at: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    door.once('error', reject)
    door.listen(at, () => {
      door.off('error', reject)
      resolve()
    })
  })

/**
 * Doors share their port with any program that asks to share it. This check still reports that another program uses the
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

const makeDoor = (app: FastifyInstance): Server =>
  createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: isPausing(app.server) }, (socket: Socket) =>
    app.server.emit('connection', socket),
  )

/** Checks whether the server reads from a connection only after the connection is introduced (introductions.ts). */
const isPausing = (server: Server & { pauseOnConnect?: boolean }): boolean => server.pauseOnConnect ?? false

/** Accepts connections from sockets that another process has bound. */
export async function listenAtShared(app: FastifyInstance, [first, ...others]: Server[]): Promise<void> {
  await app.ready()
  await opened(app.server, first as ListenOptions)
  for (const handle of others) {
    const door = makeDoor(app)
    await opened(door, handle as ListenOptions)
    app.doors.push(door)
  }
}

export async function listen(app: FastifyInstance, at: { host: string; port: number }): Promise<string> {
  const manyDoors = platform === 'linux'
  if (manyDoors && at.port !== 0) await refuseTakenPort(at)
  const shared = { backlog: MAX_UNACCEPTED, reusePort: manyDoors }
  const address = await app.listen({ ...at, ...shared })
  if (!manyDoors) return address
  for (const { address: host, port } of app.addresses() as AddressInfo[])
    for (let n = 1; n < DOORS; n++) {
      const door = makeDoor(app)
      await opened(door, { host, port, ...shared })
      app.doors.push(door)
    }
  return address
}
