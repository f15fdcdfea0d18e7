import type { Agent, buildConnector } from 'undici'
import type { OutgoingCredential } from './credential.ts'
import type { Guard } from './guard.ts'
import { watchConnection } from './resend.ts'

// The connections of outgoing requests. Each is checked by the guard before it is opened.

const CONNECT_TIMEOUT_MS = 10_000

export type Library = typeof import('undici')

type ClientCertificate = NonNullable<OutgoingCredential['clientCertificate']>

export const makeAgent = (library: Library, guard: Guard, certificate?: ClientCertificate): Agent =>
  new library.Agent({
    connect: makeConnector(library, guard, certificate),
    // Without a limit per target: all tenants share the connections, and one that waits for slow responses of a target
    // would take all of them.
    connections: null,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    maxHeaderSize: 32 * 1024,
  })

/** Checks in the connector, not only in the lookup: for an address literal, the library never calls the lookup. */
function makeConnector(
  library: Library,
  guard: Guard,
  certificate: Partial<ClientCertificate> = {},
): buildConnector.connector {
  const options = { timeout: CONNECT_TIMEOUT_MS, allowH2: false, ...certificate }
  const guarded = library.buildConnector({ lookup: guard.lookup, ...options })
  const exempt = library.buildConnector(options)
  return (target, callback) => {
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80))
    try {
      guard.checkLiteral(target.hostname, port)
    } catch (error) {
      callback(error as Error, null)
      return
    }
    const connect = guard.isExempt(target.hostname, port) ? exempt : guarded
    connect(target, (...[error, socket]) => {
      if (socket) watchConnection(socket)
      callback(...([error, socket] as Parameters<typeof callback>))
    })
  }
}
