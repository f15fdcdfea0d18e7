import { type AddressInfo, createServer, type Socket } from 'node:net'

/** The point at which the server stops responding. */
export type Silence = 'at once' | 'before tls' | 'after sign-in'

const SSL_REQUEST = 80877103
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const SIGNED_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
const COMPLETE = Buffer.from([0x43, 0, 0, 0, 13, ...Buffer.from('SELECT 0\0')])

/**
 * Implements the part of PostgreSQL's protocol that is needed to sign in and send `select 1`, and then stops
 * responding.
 */
export async function startSilentPostgres(silence: Silence) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    let began = false
    let isSilent = silence === 'at once'
    socket.on('data', (data) => {
      if (isSilent) return
      if (began) {
        if (data.toString('latin1').includes('select 1')) socket.write(Buffer.concat([COMPLETE, READY]))
        else if (data[0] === 0x58) socket.end()
      } else if (data.readInt32BE(4) === SSL_REQUEST) {
        isSilent = silence === 'before tls'
        socket.write(isSilent ? 'S' : 'N')
      } else {
        began = true
        socket.write(Buffer.concat([SIGNED_IN, READY]))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** The number of connections that are still open. */
    open: (): number => open.size,
    async stop(): Promise<void> {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
