import { type AddressInfo, createServer, type Socket } from 'node:net'

const SSL_REQUEST = 80877103
/** AuthenticationCleartextPassword. */
const SEND_YOUR_PASSWORD = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

/** A server that offers no TLS, requests the password in clear text, and records every byte it receives. */
export async function startClearPostgres() {
  const open = new Set<Socket>()
  let heard: Buffer[] = []
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    let asked = false
    socket.on('data', (data) => {
      heard.push(data)
      if (data.length >= 8 && data.readInt32BE(4) === SSL_REQUEST) socket.write('N')
      else if (!asked) {
        asked = true
        socket.write(SEND_YOUR_PASSWORD)
      } else socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    heard: (): Buffer[] => heard,
    forget(): void {
      heard = []
    },
    async stop(): Promise<void> {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
