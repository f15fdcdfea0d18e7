import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { MINUTE } from '#platform/clock'
import type { Vault } from '#platform/secrets'

// The challenge of a sign-in with only a passkey. The person is not known yet, so nothing is stored. The challenge
// contains its expiry and a signature. It is recorded as used only after a successful sign-in.

const LIFETIME = 5 * MINUTE
const NONCE_BYTES = 16
const TIME_BYTES = 6
const MAC_BYTES = 16
const LENGTH = NONCE_BYTES + TIME_BYTES + MAC_BYTES

const macOf = (vault: Vault, orgId: string, named: Buffer): Buffer =>
  createHmac('sha256', vault.derive('passkey-sign-in')).update(orgId).update(named).digest().subarray(0, MAC_BYTES)

export function makeChallenge(vault: Vault, orgId: string, now: number): { bytes: Buffer; expiresAt: Date } {
  const expiresAt = now + LIFETIME
  const named = Buffer.concat([randomBytes(NONCE_BYTES), Buffer.alloc(TIME_BYTES)])
  named.writeUIntBE(expiresAt, NONCE_BYTES, TIME_BYTES)
  return { bytes: Buffer.concat([named, macOf(vault, orgId, named)]), expiresAt: new Date(expiresAt) }
}

/** Checks whether the challenge was created for this org and has not expired. */
export function isOurChallenge(vault: Vault, orgId: string, text: string, now: number): boolean {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== LENGTH || bytes.toString('base64url') !== text) return false
  const named = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(vault, orgId, named))) return false
  return named.readUIntBE(NONCE_BYTES, TIME_BYTES) > now
}
