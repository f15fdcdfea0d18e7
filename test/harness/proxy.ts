import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { makeFramer, makeStatements, makeTransactions } from './postgres-wire.ts'

// A network between a process and PostgreSQL that can fail: it cuts connections, and stops or delays bytes. A fault can
// be aimed at the COMMIT of a certain transaction. While the network is frozen it also holds back the close of a
// connection, as in a partition.

export type Direction = 'toServer' | 'toClient'

export type CutPoint = {
  /** Selects the transactions in which a statement matches. */
  transaction: RegExp
  /**
   * `sending`: the COMMIT does not reach the server. `confirming`: the server commits, but the client gets no response.
   */
  at: 'sending' | 'confirming'
  /** `freeze` stops only this connection, permanently. */
  fault?: 'cut' | 'freeze'
  /** The number of times; 1 by default. */
  times?: number
}

export type NetworkProxy = {
  readonly port: number
  /** Returns the same address, through the proxy. */
  through(url: string): string
  /** Resets all connections. */
  cut(): void
  /** Stops all bytes on open and new connections, in both directions unless one is given. */
  freeze(direction?: Direction): void
  /** Passes on all bytes that were held back, and continues. */
  thaw(): void
  /** Delays every byte by this many milliseconds. */
  delay(ms: number): void
  /** Closes new connections at once, or accepts them again. */
  refuse(refused: boolean): void
  /** Sends new connections to this target. */
  leadTo(target: Target): void
  /** Resolves when the fault has happened `times` times. */
  aim(aim: CutPoint): Promise<void>
  /** Cancels all faults that have not happened yet. */
  forgetAims(): void
  connections(): number
  stop(): Promise<void>
}

export type Target = { host: string; port: number } | { path: string }

type Aimed = Required<CutPoint> & { hit(): void }

/** One direction of one connection. It keeps the order of the bytes, even if some are held back or delayed. */
function makeLane(to: Socket) {
  const held: (Buffer | 'end')[] = []
  let frozen = false
  let delayMs = 0
  let late: Promise<void> = Promise.resolve()
  const give = (item: Buffer | 'end'): void => {
    if (to.destroyed) return
    if (item === 'end') to.end()
    else to.write(item)
  }
  const pass = (item: Buffer | 'end'): void => {
    if (frozen) held.push(item)
    else if (delayMs === 0) give(item)
    else {
      const due = new Promise<void>((resolve) => setTimeout(resolve, delayMs))
      late = Promise.all([late, due]).then(() => (frozen ? void held.push(item) : give(item)))
    }
  }
  return {
    pass,
    freeze: () => {
      frozen = true
    },
    thaw: () => {
      frozen = false
      for (const item of held.splice(0)) give(item)
    },
    delay: (ms: number) => {
      delayMs = ms
    },
  }
}

function makeLink(client: Socket, server: Socket, aims: Aimed[]) {
  const lanes = { toServer: makeLane(server), toClient: makeLane(client) }
  const [fromClient, fromServer] = [makeFramer({ untyped: true }), makeFramer({ untyped: false })]
  const statements = makeStatements()
  const [sending, confirming] = [makeTransactions(), makeTransactions()]
  const unanswered: string[][] = []
  let held: Buffer[] | undefined
  let refusesSsl = false
  let stuck = false

  const cut = (): void => {
    client.resetAndDestroy()
    // A Unix socket cannot be reset.
    server.destroy()
  }
  const strike = (aim: Aimed): void => {
    aim.times -= 1
    if (aim.times === 0) aims.splice(aims.indexOf(aim), 1)
    if (aim.fault === 'cut') cut()
    else {
      stuck = true
      lanes.toServer.freeze()
      lanes.toClient.freeze()
    }
    if (aim.times === 0) aim.hit()
  }
  const aimedAt = (at: CutPoint['at'], transaction: readonly string[] | undefined): Aimed | undefined =>
    transaction && aims.find((aim) => aim.at === at && transaction.some((text) => aim.transaction.test(text)))

  const passToServer = (chunk: Buffer): void => {
    for (const message of fromClient.push(chunk)) {
      if (message.type === '' && message.raw.length === 8) refusesSsl = true
      const group = statements.take(message)
      if (group) {
        const aim = aimedAt('sending', sending.take(group))
        if (aim) {
          strike(aim)
          return
        }
        unanswered.push(group)
      }
      lanes.toServer.pass(message.raw)
    }
  }

  let signedIn = false
  let committing: readonly string[] | undefined
  const passToClient = (chunk: Buffer): void => {
    let bytes = chunk
    if (refusesSsl) {
      refusesSsl = false
      lanes.toClient.pass(bytes.subarray(0, 1))
      bytes = bytes.subarray(1)
    }
    for (const { type, raw } of fromServer.push(bytes)) {
      // The transaction is committed only when the server reports that it is ready again; the response is held back
      // until then.
      if (type === 'C' && !held) {
        committing = confirming.take(unanswered[0] ?? [])
        if (aimedAt('confirming', committing)) held = []
      }
      if (type === 'E') confirming.reset()
      if (type === 'Z') {
        if (signedIn) unanswered.shift()
        signedIn = true
        const aim = held && aimedAt('confirming', committing)
        if (aim) {
          strike(aim)
          return
        }
        for (const late of held ?? []) lanes.toClient.pass(late)
        held = undefined
      }
      if (held) held.push(raw)
      else lanes.toClient.pass(raw)
    }
  }

  client.on('data', passToServer).on('end', () => lanes.toServer.pass('end'))
  server.on('data', passToClient).on('end', () => lanes.toClient.pass('end'))
  client.on('error', () => {}).on('close', (reset) => reset && lanes.toServer.pass('end'))
  server.on('error', () => {}).on('close', (reset) => reset && lanes.toClient.pass('end'))
  return {
    cut,
    freeze: (direction?: Direction) => {
      for (const [name, lane] of Object.entries(lanes)) if (!direction || direction === name) lane.freeze()
    },
    thaw: () => {
      if (stuck) return
      lanes.toServer.thaw()
      lanes.toClient.thaw()
    },
    delay: (ms: number) => {
      lanes.toServer.delay(ms)
      lanes.toClient.delay(ms)
    },
    over: () => client.destroyed && server.destroyed,
  }
}

export async function startProxy(target: Target): Promise<NetworkProxy> {
  const links = new Set<ReturnType<typeof makeLink>>()
  const aims: Aimed[] = []
  let to = target
  let frozen: { direction?: Direction } | undefined
  let delayMs = 0
  let refused = false
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (refused) {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    const server = connect({ ...to, allowHalfOpen: true })
    const link = makeLink(client, server, aims)
    links.add(link)
    if (frozen) link.freeze(frozen.direction)
    link.delay(delayMs)
    const gone = (): void => {
      if (link.over()) links.delete(link)
    }
    client.on('close', gone)
    server.on('close', gone)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    port,
    through: (url) => {
      const address = Object.assign(new URL(url), { host: `127.0.0.1:${port}` })
      address.searchParams.delete('host')
      return address.href
    },
    cut: () => {
      for (const link of links) link.cut()
    },
    freeze: (direction) => {
      frozen = direction ? { direction } : {}
      for (const link of links) link.freeze(direction)
    },
    thaw: () => {
      frozen = undefined
      for (const link of links) link.thaw()
    },
    delay: (ms) => {
      delayMs = ms
      for (const link of links) link.delay(ms)
    },
    refuse: (wanted) => {
      refused = wanted
    },
    leadTo: (next) => {
      to = next
    },
    aim: (aim) =>
      new Promise((resolve) => {
        aims.push({ fault: 'cut', times: 1, ...aim, hit: resolve })
      }),
    forgetAims: () => {
      aims.length = 0
    },
    connections: () => links.size,
    stop: async () => {
      for (const link of links) link.cut()
      links.clear()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

/** Returns the target of a database URL. For a Unix socket, `host` is its directory. */
export const targetOf = (url: string): Target => {
  const { hostname, port, searchParams } = new URL(url)
  const directory = searchParams.get('host')
  if (directory?.startsWith('/')) return { path: `${directory}/.s.PGSQL.${port || 5432}` }
  return { host: hostname, port: Number(port || 5432) }
}
