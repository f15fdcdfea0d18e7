import { createServer, type Socket } from 'node:net'

// Implements the part of SQL Server's protocol (TDS 7.4) that the driver uses: sign-in, a table of numbers and a table
// of leads. Unknown requests are refused. There is no encryption, as on a server without a certificate.

type Answer = { columns: string[]; rows: (string | number | null)[][] } | { count: number } | { error: string }

const PRELOGIN = 0x12
const LOGIN = 0x10
const RPC = 0x03
const BATCH = 0x01

const packet = (body: Buffer): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < body.length; at += 4_000) {
    const some = body.subarray(at, at + 4_000)
    const header = Buffer.from([0x04, at + 4_000 >= body.length ? 1 : 0, 0, 0, 0, 0, (parts.length + 1) & 0xff, 0])
    header.writeUInt16BE(some.length + 8, 2)
    parts.push(header, some)
  }
  return Buffer.concat(parts)
}

const short = (n: number): Buffer => {
  const buffer = Buffer.alloc(2)
  buffer.writeUInt16LE(n)
  return buffer
}
const long = (n: number): Buffer => {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32LE(n >>> 0)
  return buffer
}
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')
const byteText = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), wide(text)])
const shortText = (text: string): Buffer => Buffer.concat([short(text.length), wide(text)])

const done = (count: number | null, token = 0xfd): Buffer =>
  Buffer.concat([Buffer.from([token]), short(count === null ? 0 : 0x10), short(0), long(count ?? 0), long(0)])

const errorToken = (message: string, number = 50_000): Buffer => {
  const body = Buffer.concat([
    long(number),
    Buffer.from([1, 16]),
    shortText(message),
    byteText('fake'),
    byteText(''),
    long(1),
  ])
  return Buffer.concat([Buffer.from([0xaa]), short(body.length), body])
}

const preloginAnswer = (): Buffer => {
  // VERSION and ENCRYPTION (not supported), then the end of the options.
  const options = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff])
  return packet(Buffer.concat([options, Buffer.from([16, 0, 0, 0, 0, 0, 2])]))
}

const loginAck = (): Buffer => {
  const body = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), byteText('fake'), Buffer.from([16, 0, 0, 0])])
  return packet(Buffer.concat([Buffer.from([0xad]), short(body.length), body, done(null)]))
}

/** Returns the user, the password and the database of a LOGIN7 message. */
function signInOf(body: Buffer): { user: string; password: string; database: string } {
  const textAt = (offset: number): Buffer => {
    const [at, length] = [body.readUInt16LE(offset), body.readUInt16LE(offset + 2)]
    return body.subarray(at, at + 2 * length)
  }
  const hidden = Buffer.from(textAt(44))
  const password = hidden.map((byte) => {
    const plain = byte ^ 0xa5
    return ((plain & 0x0f) << 4) | (plain >> 4)
  })
  return {
    user: textAt(40).toString('utf16le'),
    password: Buffer.from(password).toString('utf16le'),
    database: textAt(68).toString('utf16le'),
  }
}

type Call = { text: string; params: (string | number | boolean | null)[] }

/**
 * Reads a call of `sp_executesql` by its number, with the statement, the declarations and the values. Any other call is
 * refused.
 */
function callOf(body: Buffer): Call {
  let at = body.readUInt32LE(0)
  if (body.readUInt16LE(at) !== 0xffff || body.readUInt16LE(at + 2) !== 10) throw new Error('not sp_executesql')
  at += 6
  const values: (string | number | boolean | null)[] = []
  while (at < body.length) {
    at += 1 + 2 * body[at]! + 1
    const type = body[at]!
    at += 1
    if (type === 0xe7) {
      const isMax = body.readUInt16LE(at) === 0xffff
      at += 2 + 5
      if (isMax) {
        const total = body.readBigUInt64LE(at)
        at += 8
        if (total === 0xffff_ffff_ffff_ffffn) values.push(null)
        else {
          let text = ''
          for (let size = body.readUInt32LE(at); ; size = body.readUInt32LE(at)) {
            at += 4
            if (size === 0) break
            text += body.subarray(at, at + size).toString('utf16le')
            at += size
          }
          values.push(text)
        }
      } else {
        const length = body.readUInt16LE(at)
        at += 2
        if (length === 0xffff) values.push(null)
        else {
          values.push(body.subarray(at, at + length).toString('utf16le'))
          at += length
        }
      }
    } else if (type === 0x26 || type === 0x6d || type === 0x68) {
      const length = body[at + 1]!
      at += 2
      if (length === 0) values.push(null)
      else if (type === 0x68) values.push(body[at] === 1)
      else if (type === 0x6d) values.push(body.readDoubleLE(at))
      else values.push(length === 4 ? body.readInt32LE(at) : Number(body.readBigInt64LE(at)))
      at += length
    } else throw new Error(`a parameter of the type ${type}`)
  }
  const [text, , ...params] = values
  return { text: String(text), params }
}

const columnOf = (name: string): Buffer =>
  Buffer.concat([
    long(0),
    short(1),
    Buffer.from([0xe7]),
    short(8_000),
    Buffer.from([9, 4, 0xd0, 0, 0x34]),
    byteText(name),
  ])

function answerOf(answer: Answer, token: number): Buffer {
  if ('error' in answer) return packet(Buffer.concat([errorToken(answer.error), done(null, token)]))
  if ('count' in answer) return packet(done(answer.count, token))
  const head = Buffer.concat([Buffer.from([0x81]), short(answer.columns.length), ...answer.columns.map(columnOf)])
  const cell = (value: string | number | null): Buffer =>
    value === null ? short(0xffff) : Buffer.concat([short(2 * String(value).length), wide(String(value))])
  const rows = answer.rows.map((row) => Buffer.concat([Buffer.from([0xd1]), ...row.map(cell)]))
  return packet(Buffer.concat([head, ...rows, done(answer.rows.length, token)]))
}

export type FakeSqlServer = { port: number; said: Call[]; leads: Map<number, string | null>; close(): Promise<void> }

/** Accepts reads only as a subquery and writes only within a transaction. Uncommitted writes are lost. */
export async function startSqlserver(user: string, password: string): Promise<FakeSqlServer> {
  const said: Call[] = []
  const leads = new Map<number, string | null>()
  const numbers = Array.from({ length: 2_500 }, (_, n) => [n + 1, `number ${n + 1}`])

  const serve = (socket: Socket): void => {
    let received = Buffer.alloc(0)
    let message = Buffer.alloc(0)
    let signedIn = false
    let pending: Map<number, string | null> | undefined

    const run = ({ text, params }: Call): Answer => {
      said.push({ text, params })
      const top = /^select top \((\d+)\) \* from \(\n([\s\S]*)\n\) as heddle_rows$/.exec(text)
      if (top) {
        const inner = top[2]!
        if (/^select n, name from numbers$/.test(inner))
          return { columns: ['n', 'name'], rows: numbers.slice(0, Number(top[1])) }
        if (/^select @p1 as given$/.test(inner)) return { columns: ['given'], rows: [[String(params[0])]] }
        return { error: `Incorrect syntax near '${inner.slice(0, 40)}'.` }
      }
      if (text === 'select 1 as one') return { columns: ['one'], rows: [[1]] }
      if (text === 'set xact_abort on; begin transaction') {
        pending = new Map(leads)
        return { count: 0 }
      }
      if (text === 'commit transaction' && pending) {
        leads.clear()
        for (const [id, name] of pending) leads.set(id, name)
        pending = undefined
        return { count: 0 }
      }
      if (text === 'if @@trancount > 0 rollback transaction') {
        pending = undefined
        return { count: 0 }
      }
      if (!pending) return { error: 'There is no transaction.' }
      if (
        /^merge into \[leads\] with \(holdlock\) as target using \(values .*\) as source \(\[id\], \[name\]\)/.test(
          text,
        )
      ) {
        for (let at = 0; at < params.length; at += 2) pending.set(Number(params[at]), params[at + 1] as string | null)
        return { count: params.length / 2 }
      }
      if (text === 'insert into leads values (@p1, @p2)') {
        if (pending.has(Number(params[0]))) return { error: 'Violation of PRIMARY KEY constraint.' }
        pending.set(Number(params[0]), params[1] as string | null)
        return { count: 1 }
      }
      return { error: `Incorrect syntax near '${text.slice(0, 40)}'.` }
    }

    const answer = (type: number, body: Buffer): void => {
      if (type === PRELOGIN) return void socket.write(preloginAnswer())
      if (type === LOGIN) {
        const given = signInOf(body)
        signedIn = given.user === user && given.password === password
        if (signedIn) return void socket.write(loginAck())
        socket.write(packet(Buffer.concat([errorToken(`Login failed for user '${given.user}'.`, 18_456), done(null)])))
        return
      }
      if (!signedIn) return void socket.destroy()
      if (type === BATCH) {
        // The settings that the driver sends after it has signed in.
        const at = body.readUInt32LE(0)
        const text = body.subarray(at).toString('utf16le')
        return void socket.write(/^\s*set /i.test(text) ? packet(done(null)) : answerOf({ error: 'a batch' }, 0xfd))
      }
      if (type !== RPC) return void socket.destroy()
      try {
        socket.write(answerOf(run(callOf(body)), 0xfe))
      } catch (error) {
        socket.write(answerOf({ error: (error as Error).message }, 0xfe))
      }
    }

    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 8 && received.length >= received.readUInt16BE(2)) {
        const length = received.readUInt16BE(2)
        const [type, status] = [received[0]!, received[1]!]
        message = Buffer.concat([message, received.subarray(8, length)])
        received = received.subarray(length)
        if ((status & 1) === 0) continue
        const whole = message
        message = Buffer.alloc(0)
        answer(type, whole)
      }
    })
  }

  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    said,
    leads,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
