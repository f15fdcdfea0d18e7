import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type Message, makeFramer } from './postgres-wire.ts'
import type { Target } from './proxy.ts'

// A pooler that works like PgBouncer in transaction mode: between two transactions any client may get a server session.
// Clients sign in at the server itself. The pooler gives them a process id that no backend has, refuses options, and
// drops notifications for listeners.

type Session = { socket: Socket; owner: Client | undefined; unanswered: number; known: Set<string>; silent: boolean[] }
type Client = {
  id: number
  socket: Socket
  session: Session | undefined
  waiting: Message[]
  /** Messages behind a statement that is not answered yet. */
  late: Message[]
  prepared: Map<string, Buffer>
}

export type FakePooler = { through(url: string): string; stop(): Promise<void> }

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const zeroTerminated = (raw: Buffer, at: number): [text: string, end: number] => {
  const end = raw.indexOf(0, at)
  return [raw.toString('utf8', at, end), end + 1]
}
const REFUSED = message('E', Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0'))

/**
 * `named`: prepared statements with names are prepared again in each session that uses them, as in PgBouncer since
 * 1.21. `late`: each statement arrives after the answer to the statement before it, as on a slow network, and
 * transactions get the session that was idle longest.
 */
export async function startFakePooler(
  target: Target,
  { named, late = false }: { named: boolean; late?: boolean },
): Promise<FakePooler> {
  const sockets = new Set<Socket>()
  const idle = new Map<string, Session[]>()
  const queues = new Map<string, Client[]>()
  let ids = 0

  const send = (client: Client, session: Session, { type, raw }: Message): void => {
    let bytes = raw
    if (named && type === 'P') {
      const [name, rest] = zeroTerminated(raw, 5)
      if (name !== '') {
        client.prepared.set(name, raw.subarray(rest))
        bytes = message('P', Buffer.concat([Buffer.from(`${client.id}_${name}\0`), raw.subarray(rest)]))
        session.known.add(`${client.id}_${name}`)
      }
    }
    if (type === 'P') session.silent.push(false)
    if (named && type === 'B') {
      const [portal, at] = zeroTerminated(raw, 5)
      const [name, rest] = zeroTerminated(raw, at)
      if (name !== '') {
        const own = `${client.id}_${name}`
        if (!session.known.has(own)) {
          session.known.add(own)
          session.silent.push(true)
          session.socket.write(message('P', Buffer.concat([Buffer.from(`${own}\0`), client.prepared.get(name)!])))
        }
        bytes = message('B', Buffer.concat([Buffer.from(`${portal}\0${own}\0`), raw.subarray(rest)]))
      }
    }
    if (type === 'Q' || type === 'S') session.unanswered += 1
    session.socket.write(bytes)
  }

  const lend = (place: string, session: Session): void => {
    session.owner = undefined
    const next = queues.get(place)?.shift()
    if (!next) {
      idle.set(place, [...(idle.get(place) ?? []), session])
      return
    }
    session.owner = next
    next.session = session
    for (const one of next.waiting.splice(0)) send(next, session, one)
  }

  const fromServer = (place: string, session: Session, { type, raw }: Message): void => {
    if (type === '1' && session.silent.shift()) return
    // Notifications are dropped, because the session may belong to another client now.
    if (type === 'A') return
    const client = session.owner
    client?.socket.write(raw)
    if (type !== 'Z') return
    session.unanswered -= 1
    if (session.unanswered === 0 && raw[5] === 'I'.charCodeAt(0)) {
      if (client) client.session = undefined
      lend(place, session)
    }
    for (const one of client?.late.splice(0) ?? []) receive(place, client!, one)
  }

  const isUnanswered = ({ session, waiting }: Client): boolean =>
    (session?.unanswered ?? 0) > 0 || waiting.some(({ type }) => type === 'Q' || type === 'S')

  const receive = (place: string, client: Client, one: Message): void => {
    if (late && (client.late.length > 0 || isUnanswered(client))) client.late.push(one)
    else fromClient(place, client, one)
  }

  const fromClient = (place: string, client: Client, one: Message): void => {
    if (one.type === 'X') return
    if (!client.session && client.waiting.length === 0) {
      const session = late ? idle.get(place)?.shift() : idle.get(place)?.pop()
      if (session) {
        session.owner = client
        client.session = session
      } else queues.set(place, [...(queues.get(place) ?? []), client])
    }
    if (client.session) send(client, client.session, one)
    else client.waiting.push(one)
  }

  const listener = createServer((socket) => {
    const upstream = connect(target)
    for (const one of [socket, upstream]) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => sockets.delete(one))
    }
    const client: Client = { id: ++ids, socket, session: undefined, waiting: [], late: [], prepared: new Map() }
    const session: Session = { socket: upstream, owner: client, unanswered: 0, known: new Set(), silent: [] }
    const [clientFramer, serverFramer] = [makeFramer({ untyped: true }), makeFramer({ untyped: false })]
    let place = ''
    let signedIn = false
    socket.on('data', (chunk) => {
      for (const one of clientFramer.push(chunk)) {
        if (signedIn) receive(place, client, one)
        else if (one.type === '' && one.raw.length === 8) socket.write('N')
        else if (one.type === '' && one.raw.includes('options\0')) socket.end(REFUSED)
        else {
          if (one.type === '') place = one.raw.toString('latin1', 8)
          upstream.write(one.raw)
        }
      }
    })
    upstream.on('data', (chunk) => {
      for (const one of serverFramer.push(chunk)) {
        if (signedIn) fromServer(place, session, one)
        else {
          if (one.type === 'K') one.raw.writeUInt32BE(1_000_000 + client.id, 5)
          socket.write(one.raw)
          if (one.type !== 'Z') continue
          signedIn = true
          lend(place, session)
        }
      }
    })
    // A client that disconnects during a transaction closes its session too.
    socket.on('close', () => (signedIn ? client.session?.socket.destroy() : upstream.destroy()))
    upstream.on('close', () => {
      idle.set(
        place,
        (idle.get(place) ?? []).filter((one) => one !== session),
      )
      session.owner?.socket.destroy()
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    through: (url) => {
      const address = Object.assign(new URL(url), { host: `127.0.0.1:${port}` })
      address.searchParams.delete('host')
      return address.href
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
