import { createHash, randomBytes } from 'node:crypto'

// Inside the program and in PostgreSQL an id is a uuid; on the wire it is TypeID text: a prefix and the uuid in base 32.

export const prefixes = [
  'org',
  'usr',
  'co',
  'ws',
  'team',
  'wf',
  'wfv',
  'exe',
  'whk',
  'emb',
  'apr',
  'vote',
  'ds',
  'job',
  'run',
  'conn',
  'src',
  'tmpl',
  'thr',
  'msg',
  'aud',
  'chan',
  'ntf',
  'prs',
  'sub',
  'pm',
  'inv',
  'plan',
  'key',
  'evt',
  'ivt',
  'seti',
  'suite',
  'form',
  'conv',
  'clr',
  'ses',
  'aul',
  'cus',
  'itm',
  'vis',
  'mail',
  'nst',
] as const
export type Prefix = (typeof prefixes)[number]

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digitOf = new Map([...alphabet].map((letter, value) => [letter, BigInt(value)]))

let lastTime = 0
let counter = 0

/** UUIDv7, strictly increasing within this process: 48 bits of time, 12 of counter, 62 random. */
export function newId(now = Date.now()): string {
  if (now > lastTime) {
    lastTime = now
    counter = randomBytes(1)[0]!
  } else if (++counter > 0xfff) {
    lastTime += 1
    counter = 0
  }
  const random = randomBytes(8)
  const time = lastTime.toString(16).padStart(12, '0')
  const variant = ((random[0]! & 0x3f) | 0x80).toString(16).padStart(2, '0')
  const rest = random.toString('hex', 1)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${rest.slice(0, 2)}-${rest.slice(2)}`
}

export function toWire(prefix: Prefix, uuid: string): string {
  const hex = uuid.replaceAll('-', '')
  // 26 letters hold 130 bits: the first letter begins with two zero bits.
  let text = ''
  let bits = 2
  let value = 0
  for (let at = 0; at < 32; at++) {
    value = (value << 4) | Number.parseInt(hex[at]!, 16)
    bits += 4
    if (bits >= 5) {
      bits -= 5
      text += alphabet[(value >> bits) & 31]
      value &= (1 << bits) - 1
    }
  }
  return `${prefix}_${text}`
}

/** The uuid, or undefined where the text is not an id of this kind. */
export function fromWire(prefix: Prefix, text: string): string | undefined {
  if (text.length !== prefix.length + 27 || !text.startsWith(`${prefix}_`)) return undefined
  let value = 0n
  for (const letter of text.slice(prefix.length + 1)) {
    const digit = digitOf.get(letter)
    if (digit === undefined) return undefined
    value = (value << 5n) | digit
  }
  if (value >> 128n !== 0n) return undefined
  const hex = value.toString(16).padStart(32, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** An id that no row has: what an ill-formed id in a body becomes, so that the look-up itself refuses it. */
export const NOWHERE = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

// Secrets: a prefix, 192 random bits and a checksum in the last six characters, so that a mistyped or made-up one is
// refused without a look-up. Only the SHA-256 is stored.

export type SecretPrefix = 'hk' | 'whs' | 'ems' | 'ses' | 'inv' | 'tkt' | 'claim'

const checksum = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').replaceAll(/[-_]/g, 'x').slice(0, 6)

export function newSecret(prefix: SecretPrefix): string {
  const body = `${prefix}_${randomBytes(24).toString('base64url').replaceAll(/[-_]/g, 'x')}`
  return body + checksum(body)
}

export function secretLooksValid(prefix: SecretPrefix, text: string): boolean {
  if (text.length !== prefix.length + 39 || !text.startsWith(`${prefix}_`)) return false
  return checksum(text.slice(0, -6)) === text.slice(-6)
}

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** What lists show of a secret. */
export const secretPrefix = (secret: string): string => secret.slice(0, secret.indexOf('_') + 7)
