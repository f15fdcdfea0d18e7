import { type AddressInfo, createServer, isIPv6, type ListenOptions, type Server, type Socket } from 'node:net'
import { platform } from 'node:process'
import type { FastifyInstance } from 'fastify'

// Node accepts one connection in a turn of its loop. Under a flood a turn is long, and a new client (another tenant, the
// probe of a load balancer) waited seconds for theirs. So one port has several doors, among which the kernel spreads those that
// come: each turn accepts one at each of them.

const DOORS = 8
/** Connections that come in one instant; beyond Node's 511 the kernel drops them, and the client tries again after a second. */
const MAX_UNACCEPTED = 4096

declare module 'fastify' {
  interface FastifyInstance {
    /** All doors but the first. */
    doors: Server[]
  }
}

/** Before anything is asked of it: what has been asked of it can no longer be told what to do when it is closed. */
export function prepareDoors(app: FastifyInstance): void {
  const doors: Server[] = []
  let closed: Promise<unknown>[] = []
  app.decorate('doors', doors)
  app.addHook('preClose', async () => {
    closed = doors.map((door) => new Promise((resolve) => door.close(resolve)))
  })
  // The server itself knows only of those that came in by the first: code that waits for it to close must wait for all.
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

/** Doors share their port with any program that asks to share it; that another program has it must be said all the same. */
export async function refuseTakenPort(at: ListenOptions): Promise<void> {
  const probe = createServer()
  await opened(probe, at)
  await new Promise((resolve) => probe.close(resolve))
}

/** Where people reach what listens there: an IPv6 address stands in brackets. */
export const webAddressOf = (host: string, port: number | string): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

const makeDoor = (app: FastifyInstance): Server =>
  createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: isPausing(app.server) }, (socket: Socket) =>
    app.server.emit('connection', socket),
  )

/** Whether it reads from a connection only when it is introduced (introductions.ts). */
const isPausing = (server: Server & { pauseOnConnect?: boolean }): boolean => server.pauseOnConnect ?? false

/** Accepts from sockets that another process has bound. */
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
