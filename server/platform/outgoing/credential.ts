import { OutgoingFailure } from './failure.ts'
import type { Guard } from './guard.ts'
import { type Hop, portOf } from './hops.ts'
import type { Mask } from './mask.ts'

/**
 * A secret on its way out. It is put into each hop right before that is sent, so that nothing that is kept, returned or
 * followed ever holds it.
 */
export type OutgoingCredential = {
  name: string
  /** What it was stored for: names, or `*.` and a name. */
  hosts?: readonly string[]
  allows(url: URL): boolean
  apply(hop: Hop): Hop
  mask: Mask
  clientCertificate?: { cert: string; key: string }
  /**
   * The answer was 401: a newer secret to send once more with, or undefined where there is none. Throws OutgoingFailure where
   * the service will give none.
   */
  renew?(): Promise<OutgoingCredential | undefined>
  /** For code of others, which never holds the secret. */
  veiled?(): Veiled
}

/** A credential as code behind the wall gets it. */
export type Veiled = {
  kind: string
  config: Record<string, unknown>
  /** By the names of the credential's values: the text that stands for each. */
  placeholders: Record<string, string>
  /** Puts the values in where their placeholders stand. */
  credential: OutgoingCredential
  /** The values themselves, for the few programs that cannot work without them. */
  reveal(): Record<string, string>
}

/** Refused before anything is sent: a host that the secret was not stored for, and a connection that others can read. */
export function checkDestination(credential: OutgoingCredential, url: URL, guard: Pick<Guard, 'isExempt'>): void {
  if (!credential.allows(url))
    throw new OutgoingFailure(
      'credential_refused',
      `the credential "${credential.name}" is not for ${url.host}; add the host to it`,
    )
  if (url.protocol !== 'https:' && !guard.isExempt(url.hostname, portOf(url)))
    throw new OutgoingFailure(
      'credential_refused',
      `the credential "${credential.name}" is sent over https only, and the address begins with http://`,
    )
}
