import { type AddressInfo, createServer, type Socket } from 'node:net'

/** The kind of data that the server sends without end when a client fetches rows. */
export type Flood = 'rows' | 'one value' | 'notices'

const SSL_REQUEST = 80877103
const SIGNED_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const complete = message('C', Buffer.from('SELECT 0\0'))
/** One column of text, called x. */
const description = message(
  'T',
  Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from('x\0'),
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
  ]),
)
const value = (length: number): Buffer => {
  const head = Buffer.alloc(6)
  head.writeInt16BE(1, 0)
  head.writeInt32BE(length, 2)
  return head
}
const row = message('D', Buffer.concat([value(60_000), Buffer.alloc(60_000, 'x')]))
const notice = message('N', Buffer.concat([Buffer.from('SNOTICE\0M'), Buffer.alloc(60_000, 'x'), Buffer.from('\0\0')]))
/** A value of nearly 1 GB that never ends. */
const endless = ((): Buffer => {
  const head = Buffer.alloc(5)
  head.write('D', 0, 'latin1')
  head.writeInt32BE(1_000_000_010, 1)
  return Buffer.concat([head, value(1_000_000_000)])
})()

/** Accepts every client and sends a flood when the client fetches rows. Knows which connections are open. */
export async function startHostilePostgres(flood: Flood, port = 0) {
  const open = new Set<Socket>()
  const pour = (socket: Socket, bytes: Buffer): void => {
    while (!socket.destroyed && socket.write(bytes));
    if (!socket.destroyed) socket.once('drain', () => pour(socket, bytes))
  }
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    let began = false
    socket.on('data', (data) => {
      if (!began && data.readInt32BE(4) === SSL_REQUEST) socket.write('N')
      else if (!began) {
        began = true
        socket.write(Buffer.concat([SIGNED_IN, READY]))
      } else if (data.toString('latin1').includes('fetch forward')) {
        if (flood === 'notices') pour(socket, notice)
        else {
          socket.write(description)
          if (flood === 'one value') socket.write(endless)
          pour(socket, flood === 'rows' ? row : Buffer.alloc(60_000, 'x'))
        }
      } else if (data[0] === 0x50) {
        // Parse, bind, describe, execute, sync: there is nothing to describe, and the statement is complete.
        socket.write(
          Buffer.concat([
            message('1', Buffer.alloc(0)),
            message('2', Buffer.alloc(0)),
            message('n', Buffer.alloc(0)),
            complete,
            READY,
          ]),
        )
      } else if (data[0] === 0x51) socket.write(Buffer.concat([complete, READY]))
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    open: (): number => open.size,
    async stop(): Promise<void> {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
