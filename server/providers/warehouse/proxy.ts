import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TargetAccess } from './common.ts'
import type { Query } from './index.ts'

export type GuardedProxy = { host: string; port: number; user: string; password: string; url: string; close(): void }

/**
 * Closes the proxy when the caller aborts or at the timeout: a client that uses the proxy then fails. Returns a
 * function that closes everything, the client before the proxy.
 */
export function closeWhenOver(
  proxy: GuardedProxy,
  { signal, timeoutMs }: Pick<Query, 'signal' | 'timeoutMs'>,
  endClient: () => Promise<unknown>,
): () => Promise<void> {
  const giveUp = (): void => proxy.close()
  signal.addEventListener('abort', giveUp, { once: true })
  const over = setTimeout(giveUp, timeoutMs)
  return async () => {
    clearTimeout(over)
    signal.removeEventListener('abort', giveUp)
    await endClient()
    proxy.close()
  }
}

/**
 * Opens a forward proxy on the loopback interface, for vendors' clients that open their own connections but support a
 * proxy. Their connections are then made here, through the guard, to the verified address. The proxy exists for one
 * query and requires a password.
 */
export async function openProxy(reach: TargetAccess, only?: { host: string; port: number }): Promise<GuardedProxy> {
  const password = randomBytes(16).toString('hex')
  const expected = Buffer.from(`Basic ${Buffer.from(`heddle:${password}`).toString('base64')}`)
  const sockets = new Set<Socket>()

  const allowed = (request: IncomingMessage, host: string, port: number): boolean => {
    const given = Buffer.from(request.headers['proxy-authorization'] ?? '')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
    return only === undefined || (only.host.toLowerCase() === host.toLowerCase() && only.port === port)
  }

  const dial = async (host: string, port: number): Promise<Socket> => {
    const [first] = await reach.resolveTarget(host, port)
    return connect({ host: first!.address, port })
  }

  const onConnect = (request: IncomingMessage, client: Duplex, head: Buffer): void => {
    const [host = '', port = ''] = splitTarget(request.url ?? '')
    client.on('error', () => {})
    if (!allowed(request, host, Number(port))) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    dial(host, Number(port)).then(
      (socket) => {
        sockets.add(socket)
        socket.once('connect', () => {
          client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
          if (head.length > 0) socket.write(head)
          socket.pipe(client).pipe(socket)
        })
        socket.on('error', () => client.destroy())
        client.on('close', () => socket.destroy())
        socket.on('close', () => sockets.delete(socket))
      },
      () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    )
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url!) : undefined
    const port = Number(url?.port || 80)
    if (url?.protocol !== 'http:' || !allowed(request, url.hostname, port)) {
      response.writeHead(403).end()
      return
    }
    const { 'proxy-authorization': _password, 'proxy-connection': _hop, ...headers } = request.headers
    const onward = forward(
      url,
      {
        method: request.method!,
        headers,
        createConnection: (_options, done) =>
          void dial(url.hostname, port).then(
            (socket) => done(null, socket),
            (error: Error) => done(error, undefined as never),
          ),
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
    request.pipe(onward)
  }

  const server = createServer(onRequest)
  server.on('connect', onConnect)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    host: '127.0.0.1',
    port,
    user: 'heddle',
    password,
    url: `http://heddle:${password}@127.0.0.1:${port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function splitTarget(target: string): string[] {
  const colon = target.lastIndexOf(':')
  return [target.slice(0, colon).replace(/^\[|\]$/g, ''), target.slice(colon + 1)]
}
