import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

// Envelope encryption: each secret has its own data key, sealed with the installation's key. The place of the secret
// (workspace, table, row, field) is authenticated with its content, so that a sealed value does not open if it is
// moved.
//
// Version 1: 1, data key sealed for the place, content. Written until the first rotation of the key, so that a release
// that knows only version 1 can run alongside this one. Version 2: 2, id of the key, data key, content. A value is
// moved to another key by resealing its data key, which needs neither its place nor its content.

const FIRST_VERSION = 1
const KEYED_VERSION = 2

export type Place = readonly [workspaceId: string, table: string, row: string, field: string]

export type Vault = {
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Buffer): string
  /** Returns a separate key for one purpose (signed addresses, visitor tokens). */
  derive(purpose: string): Buffer
  readonly keys: Keys
}

/** The keys of this process. It opens values with any of them, and seals with the current one. */
export type Keys = {
  current(): string
  has(id: string): boolean
  /** Adds a key and returns its id. */
  add(bytes: Buffer): string
  /** Seals with this key from now on, and writes its id into the sealed values. */
  use(id: string): void
  /** Stops sealing until `use` names a key, because no other process could open the values. */
  retire(): void
  bytesOf(id: string): Buffer
  sealWith(id: string, place: Place, text: string): Buffer
  /** Returns the secret sealed with the key `to`, or undefined if it already is. */
  rewrap(sealed: Buffer, from: string, to: string): Buffer | undefined
  /** Sets the root of derived keys, if it is not the first key. */
  signWith(root: Buffer): void
}

const ID_BYTES = 8
/** Returns the id of a key, which reveals nothing else about the key. */
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

/**
 * The place of a version 1 value is not known here, so the tag is not checked. A data key that was tampered with does
 * not open its content.
 */
const decryptUnchecked = (key: KeyObject, sealed: Buffer): Buffer =>
  createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).update(sealed.subarray(12, -16))

const SEALED_KEY_BYTES = 12 + 32 + 16
const KEYED_HEAD = 1 + ID_BYTES

const placeAad = (place: Place): Buffer => Buffer.from(JSON.stringify([FIRST_VERSION, ...place]))
const wrapAad = (id: string): Buffer => Buffer.from(`heddle:data key:${id}`)

const keyed = (key: KeyObject, id: string, dataKey: Buffer, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(KEYED_VERSION), Buffer.from(id, 'hex'), encrypt(key, dataKey, wrapAad(id)), content])

/**
 * Returns the first bytes of values sealed with this key. Values of version 1 are sealed with the first key of the
 * installation.
 */
export const sealedUnder = (id: string): Buffer => Buffer.concat([Buffer.of(KEYED_VERSION), Buffer.from(id, 'hex')])

export function makeVault(bytes: Buffer): Vault {
  // Key objects instead of bytes: for bytes, Node first checks whether they are a key object, which costs four times
  // the encryption itself.
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
    if (!key) throw new Error(`encrypted with the key ${id}, which this process does not have`)
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
      if (isRetired) throw new Error(`the key ${current} was replaced and can no longer encrypt`)
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
      else throw new Error(`encrypted in the unknown format ${sealed[0]}`)
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
