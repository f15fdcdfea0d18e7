import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Bson, type Document, decode, encode, ObjectId } from './bson.ts'
import { beginScram, type Scram } from './scram.ts'

// A local server that speaks the wire protocol of MongoDB (OP_MSG) and requires users to sign in. It stores documents
// by collection, finds documents by equal fields, and refuses the same commands as a real server.

const OP_MSG = 2013

export type FakeMongo = {
  port: number
  /** All commands except those that manage connections. */
  asked: Document[]
  collections: Map<string, Document[]>
  close(): void
}

class Refused extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type Session = { user: string | undefined; scram: Scram | undefined; conversation: number }

/** Returns the command of a message, with the documents from its separate sections. */
function commandIn(message: Buffer): Document {
  const flags = message.readUInt32LE(16)
  if ((flags & ~0x10002) !== 0) throw new Refused(9, 'flags that are not known')
  let command: Document | undefined
  const sequences: Document = {}
  for (let at = 20; at < message.length; ) {
    const kind = message[at]
    if (kind === 0) {
      command = decode(message.subarray(at + 1))
      at += 1 + message.readInt32LE(at + 1)
    } else if (kind === 1) {
      const size = message.readInt32LE(at + 1)
      const end = message.indexOf(0, at + 5)
      const documents: Document[] = []
      for (let inner = end + 1; inner < at + 1 + size; inner += message.readInt32LE(inner))
        documents.push(decode(message.subarray(inner)))
      sequences[message.toString('utf8', at + 5, end)] = documents
      at += 1 + size
    } else throw new Refused(9, 'a section that is not known')
  }
  if (!command) throw new Refused(9, 'no command')
  return { ...command, ...sequences }
}

const asDocument = (value: Bson | undefined): Document => (value ?? {}) as Document
const asList = (value: Bson | undefined): Document[] => (Array.isArray(value) ? (value as Document[]) : [])

const plain = (value: Bson | undefined): unknown =>
  value instanceof ObjectId ? value.bytes.toString('hex') : typeof value === 'bigint' ? value.toString() : value
const fits = (document: Document, filter: Document): boolean =>
  Object.entries(filter).every(([name, wanted]) => plain(document[name]) === plain(wanted))

export async function startFakeMongo(users: Readonly<Record<string, string>>): Promise<FakeMongo> {
  const sockets = new Set<Socket>()
  const fake: FakeMongo = { port: 0, asked: [], collections: new Map(), close: () => {} }

  function saslStep(session: Session, command: Document): Document {
    const said = String(command.payload as Buffer)
    const failed = (): Refused => new Refused(18, 'Authentication failed.')
    if (command.saslStart === 1) {
      if (command.mechanism !== 'SCRAM-SHA-256') throw new Refused(334, 'the mechanism is not known')
      session.scram = beginScram(said, users)
      if (!session.scram) throw failed()
      session.conversation += 1
      const payload = Buffer.from(session.scram.first)
      return { conversationId: session.conversation, done: false, payload }
    }
    const last = session.scram?.finish(said)
    session.scram = undefined
    if (last === undefined) throw failed()
    session.user = 'known'
    return { conversationId: session.conversation, done: true, payload: Buffer.from(last) }
  }

  function answer(session: Session, command: Document): Document {
    const [name = ''] = Object.keys(command)
    if (typeof command.$db !== 'string') throw new Refused(40571, 'OP_MSG requests require a $db argument')
    if (name === 'hello' || name === 'isMaster' || name === 'ismaster')
      return {
        isWritablePrimary: true,
        helloOk: true,
        maxBsonObjectSize: 16_777_216,
        maxMessageSizeBytes: 48_000_000,
        maxWriteBatchSize: 100_000,
        localTime: new Date(),
        minWireVersion: 0,
        maxWireVersion: 21,
        readOnly: false,
        ...(command.saslSupportedMechs !== undefined && { saslSupportedMechs: ['SCRAM-SHA-256'] }),
      }
    if (name === 'saslStart' || name === 'saslContinue') return saslStep(session, command)
    if (name === 'endSessions') return {}
    if (session.user === undefined) throw new Refused(13, `Command ${name} requires authentication`)
    if (name === 'ping') return {}
    fake.asked.push(command)
    const place = `${command.$db}.${String(command[name])}`
    const documents = fake.collections.get(place) ?? []
    fake.collections.set(place, documents)
    const cursor = (firstBatch: Document[]): Document => ({ cursor: { id: 0n, ns: place, firstBatch } })
    switch (name) {
      case 'find': {
        const found = documents.filter((document) => fits(document, asDocument(command.filter)))
        return cursor(found.slice(0, Number(command.limit ?? 0) || undefined))
      }
      case 'insert':
        documents.push(...asList(command.documents))
        return { n: asList(command.documents).length }
      case 'delete': {
        const [{ q } = {}] = asList(command.deletes)
        const left = documents.filter((document) => !fits(document, asDocument(q)))
        fake.collections.set(place, left)
        return { n: documents.length - left.length }
      }
      default:
        throw new Refused(59, `no such command: '${name}'`)
    }
  }

  function reply(session: Session, message: Buffer): Buffer {
    let body: Document
    try {
      if (message.readInt32LE(12) !== OP_MSG) throw new Refused(9, 'only OP_MSG is spoken here')
      body = { ...answer(session, commandIn(message)), ok: 1 }
    } catch (error) {
      const { code, message: errmsg } = error instanceof Refused ? error : { code: 9, message: String(error) }
      body = { ok: 0, code, errmsg, codeName: 'Refused' }
    }
    const document = encode(body)
    const head = Buffer.alloc(21)
    head.writeInt32LE(21 + document.length, 0)
    head.writeInt32LE(message.readInt32LE(4), 8)
    head.writeInt32LE(OP_MSG, 12)
    return Buffer.concat([head, document])
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    const session: Session = { user: undefined, scram: undefined, conversation: 0 }
    let held = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      while (held.length >= 16 && held.length >= held.readInt32LE(0)) {
        const size = held.readInt32LE(0)
        socket.write(reply(session, held.subarray(0, size)))
        held = held.subarray(size)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.port = (server.address() as AddressInfo).port
  fake.close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return fake
}
