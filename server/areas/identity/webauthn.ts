import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { StoredPasskey } from './factor-store.ts'

// The WebAuthn ceremonies. The site of a passkey comes from the configured address, never from the request.

/** The library has 260 files and is loaded when the first passkey is used. */
const library = () => import('@simplewebauthn/server')

type Site = { rpID: string; origin: string }
type Transports = NonNullable<RegistrationResponseJSON['response']['transports']>

/** Browsers create no passkeys for IP addresses. On a developer's machine the console is opened as localhost. */
export function siteOf(baseUrl: string): Site {
  const url = new URL(baseUrl)
  if (/^(127(\.\d+){3}|\[::1\])$/.test(url.hostname)) url.hostname = 'localhost'
  return { rpID: url.hostname, origin: url.origin }
}

const known = (passkeys: StoredPasskey[]) =>
  passkeys.map(({ credential_id, transports }) => ({ id: credential_id, transports: transports as Transports }))

export const registrationOptions = async (
  site: Site,
  person: { user_id: string; email: string; name: string },
  passkeys: StoredPasskey[],
) =>
  (await library()).generateRegistrationOptions({
    rpName: 'Heddle',
    rpID: site.rpID,
    userID: new Uint8Array(Buffer.from(person.user_id)),
    userName: person.email,
    userDisplayName: person.name,
    attestationType: 'none',
    excludeCredentials: known(passkeys),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })

/** Returns the new passkey, or undefined if the response does not fit the challenge or the site. */
export async function readRegistration(
  site: Site,
  challenge: string,
  response: Record<string, unknown>,
): Promise<StoredPasskey | undefined> {
  try {
    const { verifyRegistrationResponse } = await library()
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpID,
      requireUserVerification: false,
    })
    if (!verified || !registrationInfo) return undefined
    const { id, publicKey, counter, transports } = registrationInfo.credential
    return { credential_id: id, public_key: Buffer.from(publicKey), counter, transports: transports ?? [] }
  } catch {
    return undefined
  }
}

/** With an existing challenge, returns the same options again. */
export const authenticationOptions = async (site: Site, passkeys: StoredPasskey[], challenge?: string) =>
  (await library()).generateAuthenticationOptions({
    rpID: site.rpID,
    allowCredentials: known(passkeys),
    userVerification: 'preferred',
    ...(challenge !== undefined && { challenge: new Uint8Array(Buffer.from(challenge, 'base64url')) }),
  })

/** Options for every passkey of this site. The browser lets the person choose one. */
export const discoverableOptions = async (site: Site, challenge: Buffer) =>
  (await library()).generateAuthenticationOptions({
    rpID: site.rpID,
    userVerification: 'required',
    challenge: new Uint8Array(challenge),
  })

/** Returns the challenge that a response names, or undefined if it cannot be read. */
export function challengeOf(response: Record<string, unknown>): string | undefined {
  const { clientDataJSON } = (response.response ?? {}) as { clientDataJSON?: unknown }
  if (typeof clientDataJSON !== 'string') return undefined
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    return undefined
  }
}

const handleOf = (response: Record<string, unknown>): unknown =>
  ((response.response ?? {}) as { userHandle?: unknown }).userHandle

/**
 * Returns the passkey that signed the challenge and its new counter, or undefined. A counter that went back indicates a
 * copied passkey, which is refused. `alone`: the person whom the passkey signs in without a password. The passkey must
 * then have verified its user and must name this person.
 */
export async function readAuthentication(
  site: Site,
  challenge: string,
  response: Record<string, unknown>,
  passkeys: StoredPasskey[],
  { alone }: { alone?: string } = {},
): Promise<{ credential_id: string; counter: number } | undefined> {
  const passkey = passkeys.find(({ credential_id }) => credential_id === response.id)
  if (!passkey) return undefined
  if (alone !== undefined && handleOf(response) !== Buffer.from(alone).toString('base64url')) return undefined
  try {
    const { verifyAuthenticationResponse } = await library()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rpID,
      requireUserVerification: alone !== undefined,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.counter,
        transports: passkey.transports as Transports,
      },
    })
    return verified ? { credential_id: passkey.credential_id, counter: authenticationInfo.newCounter } : undefined
  } catch {
    return undefined
  }
}
