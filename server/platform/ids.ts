import { createHash, randomBytes, randomFillSync } from 'node:crypto'

// Inside the program and in PostgreSQL an id is a uuid. On the wire it is a TypeID: a prefix and the uuid in base 32.

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
  'psk',
  'cred',
  'dest',
  'trg',
  'dlv',
  'wait',
  'file',
  'kb',
  'doc',
  'rpl',
  'alr',
  'sch',
  'bulk',
  'svc',
  'cmt',
  'note',
  'can',
  'oac',
  'ogr',
  'chid',
  'err',
] as const
export type Prefix = (typeof prefixes)[number]

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const valueOfLetter = new Int8Array(128).fill(-1)
for (let value = 0; value < 32; value++) valueOfLetter[alphabet.charCodeAt(value)] = value

let lastTime = 0
let counter = 0

/** Random bytes are generated in pages: a call for eight bytes costs the same as one for four thousand. */
const page = Buffer.alloc(4096)
let unused = page.length
/** Returns the position of random bytes in the page that nothing else uses. */
function randomAt(bytes: number): number {
  if (unused + bytes > page.length) {
    randomFillSync(page)
    unused = 0
  }
  unused += bytes
  return unused - bytes
}

/** Returns the creation time of a UUIDv7, in milliseconds of the clock that created it. */
export const timeOfId = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)

/** The 16 bytes of a uuid, as signed tokens contain them. */
export const bytesOfUuid = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')

/** Returns the uuid that has these 16 bytes. */
export const uuidOfBytes = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

let timeText = ''

/** Returns a UUIDv7, strictly increasing within this process: 48 bits of time, 12 bits of counter, 62 random bits. */
export function newId(now = Date.now()): string {
  if (now > lastTime) {
    lastTime = now
    counter = page[randomAt(1)] as number
    timeText = ''
  } else if (++counter > 0xfff) {
    lastTime += 1
    counter = 0
    timeText = ''
  }
  if (timeText === '') {
    const time = lastTime.toString(16).padStart(12, '0')
    timeText = `${time.slice(0, 8)}-${time.slice(8)}-7`
  }
  const at = randomAt(8)
  page[at] = ((page[at] as number) & 0x3f) | 0x80
  const random = page.toString('hex', at, at + 8)
  return `${timeText}${(counter + 0x1000).toString(16).slice(1)}-${random.slice(0, 4)}-${random.slice(4)}`
}

// 26 letters encode 130 bits: two zero bits, then the 128 bits of the uuid. Every request reads and writes several ids,
// so neither direction uses big integers.

/** The letters of an id while it is encoded. A text of one piece is cheaper than 26 concatenations. */
const letters = Buffer.alloc(26)
const letterOfValue = Buffer.from(alphabet, 'latin1')

export function toWire(prefix: Prefix, uuid: string): string {
  let bits = 2
  let value = 0
  let written = 0
  for (let at = 0; at < 36; at++) {
    const code = uuid.charCodeAt(at)
    if (code === 45) continue
    value = (value << 4) | (code > 57 ? (code | 32) - 87 : code - 48)
    bits += 4
    if (bits >= 5) {
      bits -= 5
      letters[written++] = letterOfValue[(value >> bits) & 31] as number
      value &= (1 << bits) - 1
    }
  }
  return `${prefix}_${letters.toString('latin1', 0, written)}`
}

const hexDigits = '0123456789abcdef'

/** Returns the uuid, or undefined if the text is not an id of this kind. */
export function fromWire(prefix: Prefix, text: string): string | undefined {
  const from = prefix.length + 1
  if (text.length !== from + 26 || !text.startsWith(prefix) || text[from - 1] !== '_') return undefined
  let uuid = ''
  let bits = -2
  let value = 0
  for (let at = from; at < text.length; at++) {
    const digit = valueOfLetter[text.charCodeAt(at)] ?? -1
    if (digit < 0) return undefined
    // The two bits before the uuid must be zero.
    if (at === from && digit > 7) return undefined
    value = (value << 5) | digit
    bits += 5
    while (bits >= 4) {
      bits -= 4
      uuid += hexDigits[(value >> bits) & 15]
      if (uuid.length === 8 || uuid.length === 13 || uuid.length === 18 || uuid.length === 23) uuid += '-'
    }
    value &= (1 << bits) - 1
  }
  return uuid
}

/** An id that no row has. An ill-formed id in a body becomes this id, so that the lookup itself refuses it. */
export const UNKNOWN_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

// Secrets: a prefix, 192 random bits and a checksum in the last six characters, so that a mistyped or made-up secret is
// refused without a lookup. Only the SHA-256 is stored.

export type SecretPrefix =
  | 'hk'
  | 'whs'
  | 'ems'
  | 'ses'
  | 'inv'
  | 'tkt'
  | 'claim'
  | 'sgn'
  | 'vfy'
  | 'rst'
  | 'mfa'
  | 'hr'
  | 'hc'

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

/** Returns the part of a secret that lists show. */
export const secretPrefix = (secret: string): string => secret.slice(0, secret.indexOf('_') + 7)

export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Returns the smallest id of a moment: a UUIDv7 starts with its time. */
export const firstIdAt = (ms: number): string => {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${FIRST_ID.slice(13)}`
}

/**
 * An id is created slightly before its row, perhaps by another clock. Ids only narrow a search by time; the row's own
 * time decides.
 */
const SLACK_MS = 60 * 60 * 1000

export const idsFrom = (from: Date | null | undefined): string =>
  from ? firstIdAt(from.getTime() - SLACK_MS) : FIRST_ID
export const idsUntil = (to: Date | null | undefined): string => (to ? firstIdAt(to.getTime() + SLACK_MS) : LAST_ID)
