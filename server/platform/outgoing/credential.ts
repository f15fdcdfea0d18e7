import { OutgoingFailure } from './failure.ts'
import type { Guard } from './guard.ts'
import { type Hop, portOf } from './hops.ts'
import type { Mask } from './mask.ts'

/**
 * A secret for outgoing requests. It is added to each hop right before the hop is sent, so that nothing that is stored,
 * returned or followed contains the secret.
 */
export type OutgoingCredential = {
  name: string
  /** The hosts that the secret was stored for: names, or `*.` and a name. */
  hosts?: readonly string[]
  allows(url: URL): boolean
  apply(hop: Hop): Hop
  mask: Mask
  clientCertificate?: { cert: string; key: string }
  /**
   * Called after a 401. Returns a newer secret for one more attempt, or undefined if there is none. Throws
   * OutgoingFailure if the service refuses to issue one.
   */
  renew?(): Promise<OutgoingCredential | undefined>
  /** Returns the form for third-party code, which never gets the secret. */
  veiled?(): PlaceholderCredential
}

/** A credential as third-party code behind the wall gets it. */
export type PlaceholderCredential = {
  kind: string
  config: Record<string, unknown>
  /** The placeholder text of each value, by the name of the value. */
  placeholders: Record<string, string>
  /** Replaces the placeholders with the values. */
  credential: OutgoingCredential
  /** Returns the values themselves, for the few programs that cannot work without them. */
  reveal(): Record<string, string>
}

/** Refuses, before anything is sent, a host that the secret was not stored for, and an unencrypted connection. */
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
