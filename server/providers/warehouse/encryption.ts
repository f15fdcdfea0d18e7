import type { Json, JsonObject } from '#model/definition'

/** `mayBeClear`: if the server offers no TLS, the password is sent unencrypted. */
export type Encryption = { tls: boolean; verify: boolean; mayBeClear: boolean }

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'

/**
 * Returns what the `ssl` setting of a connection means for the address to connect to. By default the certificate is
 * verified. Only `off` sends a password unencrypted over a network. Connections that never leave the machine may also
 * work without TLS, because there are usually no certificates for them.
 */
export function encryptionOf(ssl: Json | undefined, address: string): Encryption {
  switch (ssl) {
    case 'off':
    case false:
      return { tls: false, verify: false, mayBeClear: true }
    case 'require':
    case 'no-verify':
      return { tls: true, verify: false, mayBeClear: false }
    case 'prefer':
      return { tls: true, verify: false, mayBeClear: isLoopback(address) }
    case undefined:
      return isLoopback(address)
        ? { tls: true, verify: false, mayBeClear: true }
        : { tls: true, verify: true, mayBeClear: false }
    default:
      return { tls: true, verify: true, mayBeClear: false }
  }
}

export const sslSchema: JsonObject = {
  title: 'Encryption',
  enum: ['verify', 'no-verify', 'prefer', 'off', 'require', true, false],
  default: 'verify',
  description:
    '`verify` (or true) checks the certificate; `no-verify` (or `require`) encrypts without checking it; `off` (or false) sends everything in clear, the password too; `prefer` is `no-verify`, except for a server on the same machine, which may be used without TLS if it offers none',
}
