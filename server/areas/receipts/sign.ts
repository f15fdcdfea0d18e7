import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { canonicalText } from '#model/canonical'
import type { Vault } from '#platform/secrets'
import { keyIdOf } from './chain.ts'
import type { ReceiptStatement } from './schema.ts'

// The key that signs receipts. It is derived from the installation's signing root, which stays the same when the key is
// rotated.

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const RAW_BYTES = 32

export type Signer = {
  keyId: string
  /** The 32 bytes of an Ed25519 key, in base64url. */
  publicKey: string
  sign(statement: ReceiptStatement): string
}

export function makeSigner(vault: Pick<Vault, 'derive'>): Signer {
  // Made at the first use: the first key that a process reads takes 8 ms of its start.
  let made: { key: KeyObject; keyId: string; publicKey: string } | undefined
  const own = () => (made ??= makeKey(vault.derive('receipts')))
  return {
    get keyId() {
      return own().keyId
    },
    get publicKey() {
      return own().publicKey
    },
    sign: (statement) => sign(null, Buffer.from(canonicalText(statement)), own().key).toString('base64url'),
  }
}

function makeKey(bytes: Buffer): { key: KeyObject; keyId: string; publicKey: string } {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, bytes]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key)
    .export({ format: 'der', type: 'spki' })
    .subarray(-RAW_BYTES)
    .toString('base64url')
  return { key, keyId: keyIdOf(publicKey), publicKey }
}
