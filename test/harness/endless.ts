import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { createGzip } from 'node:zlib'

/** The ways in which a server misbehaves. */
export type Misbehaviour = 'without end' | 'drip' | 'gzip bomb' | 'huge header'
export const misbehaviours: Misbehaviour[] = ['without end', 'drip', 'gzip bomb', 'huge header']

const MEGABYTE = Buffer.alloc(1024 * 1024, ' ')

/** Starts a server that answers every request badly. It counts the bytes it could send and the open connections. */
export async function startEndlessServer(treatment: Misbehaviour) {
  const open = new Set<Socket>()
  let sent = 0
  const pour = (
    write: (bytes: Buffer) => boolean,
    drained: (again: () => void) => void,
    ended: () => boolean,
  ): void => {
    while (!ended()) {
      sent += MEGABYTE.length
      if (!write(MEGABYTE)) {
        drained(() => pour(write, drained, ended))
        return
      }
    }
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume()
    const { socket } = request
    response.on('error', () => {})
    switch (treatment) {
      case 'without end':
        response.writeHead(200, { 'content-type': 'application/json' })
        pour(
          (bytes) => response.write(bytes),
          (again) => response.once('drain', again),
          () => socket.destroyed,
        )
        return
      case 'gzip bomb': {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        const packed = createGzip()
        packed.pipe(response)
        socket.once('close', () => packed.destroy())
        pour(
          (bytes) => packed.write(bytes),
          (again) => packed.once('drain', again),
          () => socket.destroyed,
        )
        return
      }
      case 'drip': {
        response.writeHead(200, { 'content-type': 'application/json' })
        const timer = setInterval(() => response.write(' '), 20)
        socket.once('close', () => clearInterval(timer))
        return
      }
      case 'huge header':
        response.writeHead(200, { 'x-huge': 'x'.repeat(4 * 1024 * 1024) }).end('{}')
    }
  }
  const server = createServer(answer)
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    base: `http://127.0.0.1:${port}`,
    sent: (): number => sent,
    /** Returns the number of connections that the clients have not closed. */
    open: (): number => open.size,
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** As above, for a protocol of lines: sends an endless greeting, or one letter at a time. */
export async function startEndlessLines(treatment: 'without end' | 'drip') {
  const open = new Set<Socket>()
  const server = createTcpServer((socket) => {
    open.add(socket)
    const timer = setInterval(() => {
      if (treatment === 'drip') socket.write('2')
      else if (socket.writableLength < MEGABYTE.length) socket.write(MEGABYTE)
    }, 5)
    socket
      .on('error', () => {})
      .on('close', () => {
        clearInterval(timer)
        open.delete(socket)
      })
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    open: (): number => open.size,
    async stop(): Promise<void> {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
