import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

// Envelope encryption: each secret has its own data key, sealed with the installation's key. What it belongs to
// (workspace, table, row, field) is authenticated with it, so that a sealed value moved elsewhere does not open.

const VERSION = 1

export type Place = readonly [workspaceId: string, table: string, row: string, field: string]

export type Vault = {
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Buffer): string
  /** A key of its own for one purpose (signed addresses, visitor tokens, database passwords). */
  derive(purpose: string): Buffer
}

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

const SEALED_KEY_BYTES = 12 + 32 + 16

export function makeVault(bytes: Buffer): Vault {
  // Of bytes node asks first whether they are a key object, which costs four times the encryption itself.
  const key = createSecretKey(bytes)
  const aadOf = (place: Place): Buffer => Buffer.from(JSON.stringify([VERSION, ...place]))
  return {
    seal(place, text) {
      const dataKey = randomBytes(32)
      const aad = aadOf(place)
      return Buffer.concat([
        Buffer.of(VERSION),
        encrypt(key, dataKey, aad),
        encrypt(createSecretKey(dataKey), Buffer.from(text), aad),
      ])
    },
    open(place, sealed) {
      if (sealed[0] !== VERSION) throw new Error(`sealed with the unknown key version ${sealed[0]}`)
      const aad = aadOf(place)
      const dataKey = decrypt(key, sealed.subarray(1, 1 + SEALED_KEY_BYTES), aad)
      return decrypt(createSecretKey(dataKey), sealed.subarray(1 + SEALED_KEY_BYTES), aad).toString()
    },
    derive: (purpose) => createHmac('sha256', key).update(`heddle:${purpose}`).digest(),
  }
}
