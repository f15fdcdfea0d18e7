import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

// Envelope encryption: each secret has its own data key, sealed with the installation's key. What it belongs to
// (workspace, table, row, field) is authenticated with its content, so that a sealed value moved elsewhere does not open.
//
// Version 1: 1, data key sealed for the place, content. Written until the key is first rotated, so that a release that knows
// no other can work beside this one. Version 2: 2, id of the key, data key, content. A value is put under another key by sealing
// its data key anew, without its place and without its content.

const FIRST_VERSION = 1
const KEYED_VERSION = 2

export type Place = readonly [workspaceId: string, table: string, row: string, field: string]

export type Vault = {
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Buffer): string
  /** A key of its own for one purpose (signed addresses, visitor tokens). */
  derive(purpose: string): Buffer
  readonly keys: Keys
}

/** The keys that this process has. It opens with any of them, and seals with the current one. */
export type Keys = {
  current(): string
  has(id: string): boolean
  /** Answers with its id. */
  add(bytes: Buffer): string
  /** Seals with this one from now on, and says so in what it seals. */
  use(id: string): void
  /** Seals nothing any more: no other process could open it. Until `use` names a key. */
  retire(): void
  bytesOf(id: string): Buffer
  sealWith(id: string, place: Place, text: string): Buffer
  /** The same secret under the key `to`; undefined where it is under that key already. */
  rewrap(sealed: Buffer, from: string, to: string): Buffer | undefined
  /** What derived keys are made of, where it is not the first key. */
  signWith(root: Buffer): void
}

const ID_BYTES = 8
/** Says which key it is, and nothing about it. */
export const keyId = (bytes: Buffer): string =>
  createHash('sha256')
    .update('heddle:key id')
    .update(bytes)
    .digest('hex')
    .slice(0, 2 * ID_BYTES)

function encrypt(key: KeyObject, bytes: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aad)
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: KeyObject, sealed: Buffer, aad: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(aad)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
}

/** The place of a value of version 1 is not known here. A data key that was tampered with does not open its content. */
const decryptUnchecked = (key: KeyObject, sealed: Buffer): Buffer =>
  createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).update(sealed.subarray(12, -16))

const SEALED_KEY_BYTES = 12 + 32 + 16
const KEYED_HEAD = 1 + ID_BYTES

const placeAad = (place: Place): Buffer => Buffer.from(JSON.stringify([FIRST_VERSION, ...place]))
const wrapAad = (id: string): Buffer => Buffer.from(`heddle:data key:${id}`)

const keyed = (key: KeyObject, id: string, dataKey: Buffer, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(KEYED_VERSION), Buffer.from(id, 'hex'), encrypt(key, dataKey, wrapAad(id)), content])

/** How values that are under a key begin; those of version 1 are under the first key of the installation. */
export const sealedUnder = (id: string): Buffer => Buffer.concat([Buffer.of(KEYED_VERSION), Buffer.from(id, 'hex')])

export function makeVault(bytes: Buffer): Vault {
  // Of bytes node asks first whether they are a key object, which costs four times the encryption itself.
  const keys = new Map<string, KeyObject>()
  const add = (more: Buffer): string => {
    const id = keyId(more)
    if (!keys.has(id)) keys.set(id, createSecretKey(more))
    return id
  }
  let current = add(bytes)
  let isKeyed = false
  let isRetired = false
  let root = keys.get(current)!

  const keyOf = (id: string): KeyObject => {
    const key = keys.get(id)
    if (!key) throw new Error(`sealed with the key ${id}, which this process does not have`)
    return key
  }

  const sealWith = (id: string, place: Place, text: string): Buffer => {
    const dataKey = randomBytes(32)
    const content = encrypt(createSecretKey(dataKey), Buffer.from(text), placeAad(place))
    return keyed(keyOf(id), id, dataKey, content)
  }

  const sealFirst = (place: Place, text: string): Buffer => {
    const dataKey = randomBytes(32)
    const aad = placeAad(place)
    return Buffer.concat([
      Buffer.of(FIRST_VERSION),
      encrypt(keyOf(current), dataKey, aad),
      encrypt(createSecretKey(dataKey), Buffer.from(text), aad),
    ])
  }

  const openFirst = (aad: Buffer, wrapped: Buffer): Buffer => {
    let failure: unknown
    for (const key of keys.values()) {
      try {
        return decrypt(key, wrapped, aad)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  return {
    seal(place, text) {
      if (isRetired) throw new Error(`the key ${current} was replaced: nothing may be sealed with it`)
      return isKeyed ? sealWith(current, place, text) : sealFirst(place, text)
    },
    open(place, sealed) {
      const aad = placeAad(place)
      const head = sealed[0] === KEYED_VERSION ? KEYED_HEAD : 1
      const wrapped = sealed.subarray(head, head + SEALED_KEY_BYTES)
      let dataKey: Buffer
      if (sealed[0] === KEYED_VERSION) {
        const id = sealed.subarray(1, KEYED_HEAD).toString('hex')
        dataKey = decrypt(keyOf(id), wrapped, wrapAad(id))
      } else if (sealed[0] === FIRST_VERSION) dataKey = openFirst(aad, wrapped)
      else throw new Error(`sealed with the unknown version ${sealed[0]}`)
      return decrypt(createSecretKey(dataKey), sealed.subarray(head + SEALED_KEY_BYTES), aad).toString()
    },
    derive: (purpose) => createHmac('sha256', root).update(`heddle:${purpose}`).digest(),
    keys: {
      current: () => current,
      has: (id) => keys.has(id),
      add,
      use(id) {
        keyOf(id)
        current = id
        isKeyed = true
        isRetired = false
      },
      retire() {
        isRetired = true
      },
      bytesOf: (id) => keyOf(id).export(),
      sealWith,
      rewrap(sealed, from, to) {
        if (sealed.subarray(0, KEYED_HEAD).equals(sealedUnder(to))) return undefined
        const isFirst = sealed[0] === FIRST_VERSION
        const head = isFirst ? 1 : KEYED_HEAD
        const id = isFirst ? from : sealed.subarray(1, KEYED_HEAD).toString('hex')
        const wrapped = sealed.subarray(head, head + SEALED_KEY_BYTES)
        const dataKey = isFirst ? decryptUnchecked(keyOf(id), wrapped) : decrypt(keyOf(id), wrapped, wrapAad(id))
        return keyed(keyOf(to), to, dataKey, sealed.subarray(head + SEALED_KEY_BYTES))
      },
      signWith(bytes) {
        root = createSecretKey(bytes)
      },
    },
  }
}
