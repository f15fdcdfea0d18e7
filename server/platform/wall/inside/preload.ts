// Runs first in a process behind the wall. A connection that the code inside opens, with any client, becomes a
// connection to the service's own socket, preceded by a line that names its target. The service does TLS, so that it
// can check the target and add the credential. This file is only a convenience: the empty network namespace of the
// process is what keeps the code inside.

import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'

const [SOCKET = '', TRANSPORT = 'http'] = process.argv.slice(2)
process.argv.splice(2, 2)

type Target = { host?: string; servername?: string; port?: number | string; path?: string; socket?: net.Socket }
type Callback = (() => void) | null
type Normalized = [Target, Callback]

const normalize = (net as unknown as { _normalizeArgs(args: unknown[]): Normalized })._normalizeArgs
const connect = net.Socket.prototype.connect as unknown as (this: net.Socket, options: { path: string }) => net.Socket

const normalized = (args: unknown[]): Normalized => {
  const [options, callback] = normalize(Array.isArray(args[0]) ? (args[0] as unknown[]) : args)
  return [options, typeof callback === 'function' ? callback : null]
}

function route(socket: net.Socket, scheme: string, host: string, port: number | string | undefined): void {
  connect.call(socket, { path: SOCKET })
  socket.write(`${scheme} ${host} ${port}\n`)
}

function refuse(socket: net.Socket, what: string): net.Socket {
  socket.destroy(new Error(`${what} is not possible here`))
  return socket
}

function dial(args: unknown[], scheme: 'http' | 'tcp'): net.Socket {
  const [options, callback] = normalized(args)
  const socket = new net.Socket()
  if (callback) socket.once('connect', callback)
  if (options.path) return refuse(socket, 'a connection to a file')
  route(socket, scheme, options.host || 'localhost', options.port)
  return socket
}

/** The properties that clients expect of a TLS socket. The service encrypts the connection. */
const SECURE = {
  encrypted: true,
  authorized: true,
  alpnProtocol: false,
  getPeerCertificate: () => ({}),
  getProtocol: () => 'TLSv1.3',
  getCipher: () => ({}),
  getSession: () => undefined,
  isSessionReused: () => false,
  setServername: () => undefined,
  renegotiate: () => false,
  getEphemeralKeyInfo: () => ({}),
}

function dialSecure(args: unknown[]): net.Socket {
  const [options, callback] = normalized(args)
  const socket = Object.assign(new net.Socket(), SECURE)
  if (callback) socket.once('secureConnect', callback)
  if (options.socket || options.path) return refuse(socket, 'TLS inside of another connection')
  route(socket, 'https', options.host || options.servername || 'localhost', options.port || 443)
  socket.once('connect', () => queueMicrotask(() => socket.emit('secureConnect')))
  return socket
}

const scheme = TRANSPORT === 'tcp' ? 'tcp' : 'http'
const connectSecurely = tls.connect as unknown as (options: object, callback?: () => void) => net.Socket

/** Database drivers do TLS themselves, over a connection that the service forwards. */
function dialDatabaseSecurely(args: unknown[]): net.Socket {
  const [options, callback] = normalized(args)
  const socket = options.socket ?? dial([{ host: options.host, port: options.port }], 'tcp')
  return connectSecurely({ ...options, path: undefined, socket }, callback ?? undefined)
}

const dialPlain = (...args: unknown[]): net.Socket => dial(args, scheme)
const lookup = (_name: string, options: unknown, callback: unknown): void => {
  const done = (typeof options === 'function' ? options : callback) as (...found: unknown[]) => void
  const all = typeof options === 'object' && options !== null && (options as { all?: boolean }).all
  // An address for documentation, because names are resolved outside.
  queueMicrotask(() => (all ? done(null, [{ address: '192.0.2.1', family: 4 }]) : done(null, '192.0.2.1', 4)))
}

Object.assign(net, { connect: dialPlain, createConnection: dialPlain })
Object.assign(tls, {
  connect: (...args: unknown[]) => (TRANSPORT === 'tcp' ? dialDatabaseSecurely(args) : dialSecure(args)),
})
Object.assign(net.Socket.prototype, {
  connect(this: net.Socket, ...args: unknown[]): net.Socket {
    const [options, callback] = normalized(args)
    if (callback) this.once('connect', callback)
    if (options.path) return refuse(this, 'a connection to a file')
    route(this, scheme, options.host || 'localhost', options.port)
    return this
  },
})
Object.assign(dns, { lookup })
Object.assign(dns.promises, {
  lookup: async (_name: string, options?: { all?: boolean }) =>
    options?.all ? [{ address: '192.0.2.1', family: 4 }] : { address: '192.0.2.1', family: 4 },
})
syncBuiltinESMExports()
