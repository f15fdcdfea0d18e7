import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../clock.ts'

// Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds, as all authenticator apps use.

const STEP = 30 * SECOND
const DIGITS = 6
/** Also accepts the step before and the step after, because clocks differ and people type slowly. */
const DRIFT = 1
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const newTotpSecret = (): Buffer => randomBytes(20)

export function toBase32(bytes: Buffer): string {
  let text = ''
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET[(value << (5 - bits)) & 31]
}

export const stepAt = (now: number): number => Math.floor(now / STEP)

export function totpCode(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac[19]! & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

/** Returns the step that the code belongs to, or undefined. A step up to `lastStep` was already used and is refused. */
export function matchTotp(secret: Buffer, code: string, now: number, lastStep: number): number | undefined {
  const given = Buffer.from(code)
  const present = stepAt(now)
  let matched: number | undefined
  for (let step = present - DRIFT; step <= present + DRIFT; step++) {
    const expected = Buffer.from(totpCode(secret, step))
    if (given.length === expected.length && timingSafeEqual(given, expected) && step > lastStep) matched = step
  }
  return matched
}

/** Returns the address that an authenticator app reads from a QR code. */
export function otpauthUrl(secret: Buffer, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP / SECOND}`
}
